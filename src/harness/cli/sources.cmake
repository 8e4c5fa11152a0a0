# list(APPEND sources cli/x.cpp): sources of this folder.
