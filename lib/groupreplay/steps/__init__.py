"""The steps of a night: plan, land, replay, report, publish. The only place with Spark actions; jobs call `night.run_night`."""
