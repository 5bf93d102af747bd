"""What the report and the pages share: templates, scripts, styles, plots and steps of matches."""
