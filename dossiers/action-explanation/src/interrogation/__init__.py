"""Action explanations by interrogation: queries to a simulator, their answers in words, and the protocol of rounds."""
