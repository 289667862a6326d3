"""The documentation: every code cell is executed when it is built, and one that fails fails the build."""

import chronogp

project = "chronogp"
author = "the chronogp developers"
version = release = chronogp.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.viewcode", "myst_nb"]
exclude_patterns = ["_build", "jupyter_execute"]
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "header_links_before_dropdown": 8,
}
html_show_sourcelink = False
html_title = "chronogp"
html_sidebars = {"**": []}  # few pages: the bar at the top leads to all of them

myst_enable_extensions = ["dollarmath", "colon_fence"]
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_show_tb = True
nb_render_markdown_format = "gfm"  # tables that a cell prints

autodoc_member_order = "bysource"
autodoc_typehints = "none"
