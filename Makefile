# The course's commands, for those who have make. tasks.py does the work: python3 tasks.py --help
# ARGS passes options on, as in: make test ARGS="-- -k theory"
PYTHON ?= python3
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help book zip pdf slides test serve lab notebooks assignments bundle grade summarise lint clean setup

help:
	@$(PYTHON) tasks.py --help

book zip pdf slides test serve lab notebooks assignments bundle grade summarise lint clean setup:
	@$(PYTHON) tasks.py $@ $(ARGS)
