"""The parts that the report and the pages share: templates, scripts, styles, plots and steps."""
