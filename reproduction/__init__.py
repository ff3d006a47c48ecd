"""The tables of the papers and the claims of the textbook, made again from real data."""

# In the order of the page. Each is the EXPERIMENT of the module of its name, with _ for -.
TABLES = (
    "freund-schapire",
    "libol",
    "sol",
    "shuffling",
    "early-stopping",
    "averaging",
    "survival",
    "combinations",
    "mixing",
    "category-ranking",
    "tagging",
)
