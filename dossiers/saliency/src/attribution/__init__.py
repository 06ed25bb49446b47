"""Attribution: which groups of observation entries an agent's outputs, or its returns, depend on."""
