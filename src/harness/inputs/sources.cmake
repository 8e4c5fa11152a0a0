# list(APPEND sources inputs/x.cpp): sources of this folder.
