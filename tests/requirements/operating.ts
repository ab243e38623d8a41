import { area } from '../requirement.ts';

export const operating = area('operating', 'done', [
  // Backup, restore, move and upgrades.
  [
    'OPS-101',
    'docs/backup.md#backing-up',
    'A backup taken while turns run is the database as it was at one moment: every turn that was answered before it is in it, events are without gaps, and every transfer of money sums to zero.',
  ],
  [
    'OPS-102',
    'docs/backup.md#restoring',
    'A backup restored on another machine continues there: keys work, secrets open with the master key, files are the same byte for byte, pending interactions can be answered, and homes of computers are in place.',
  ],
  ['OPS-103', 'docs/backup.md#backing-up', 'The master key is in no backup; a second file gets it on request.'],
  [
    'OPS-104',
    'docs/backup.md#restoring',
    'A backup that is cut off, changed in any byte that counts, or no backup at all is refused before anything is written.',
  ],
  [
    'OPS-105',
    'docs/backup.md#restoring',
    'A restore without the right master key is refused before anything is written.',
  ],
  [
    'OPS-106',
    'docs/backup.md#restoring',
    'A database with rows in it, or with a server on it, is neither restored nor moved into.',
  ],
  [
    'OPS-107',
    'docs/backup.md#restoring',
    'A backup of a newer version is refused with a sentence that names both; one of an older version is brought up to this one.',
  ],
  [
    'OPS-108',
    'docs/backup.md#restoring',
    'No server starts on a database whose restore was killed half way, and the same restore can be run again.',
  ],
  [
    'OPS-109',
    'docs/backup.md#moving',
    '`vestra admin move` brings every row into another empty database and back, counted on both sides, and leaves the first as it was.',
  ],
  [
    'OPS-110',
    'docs/upgrading.md#from-020-to-030',
    'A data folder of version 0.2.0 starts on this version with its keys, secrets, money, versions, notebooks, skills, memory, files, routines and sessions.',
  ],
  [
    'OPS-111',
    'docs/upgrading.md#from-020-to-030',
    'Runs and pending interactions of version 0.2.0 continue after the upgrade: approvals and questions can be answered and tasks finish.',
  ],
  // Metrics, health, the doctor and money.
  [
    'OPS-201',
    'docs/metrics.md#scrape-with-prometheus',
    '`GET /metrics` answers what a process counts as Prometheus reads it, and as OpenMetrics to who asks for that.',
  ],
  [
    'OPS-202',
    'docs/metrics.md#scrape-with-prometheus',
    '`/metrics` is read with the operator’s token or straight from this machine; what came through a proxy did not.',
  ],
  [
    'OPS-203',
    'docs/metrics.md#scrape-with-prometheus',
    'A read of the metrics is answered while the database is not, and reports that.',
  ],
  [
    'OPS-204',
    'docs/metrics.md#health',
    '`/health/live` answers while the process does; `/health/ready` is 503 with the reason while it could not serve.',
  ],
  [
    'OPS-205',
    'docs/metrics.md#health',
    'A server that is told to stop is not ready first, and serves for `VESTRA_DRAIN_SECONDS` before it stops.',
  ],
  [
    'OPS-206',
    'docs/metrics.md#health',
    'While the database is unreachable or takes no writes, a request answers 503 `not_ready` with Retry-After.',
  ],
  [
    'OPS-207',
    'docs/metrics.md#metrics',
    'Every metric stands in the page with what it means, and the rules and the dashboard name no other.',
  ],
  [
    'OPS-208',
    'docs/metrics.md#scrape-with-prometheus',
    'No label of a metric is an org, a user or anything else that a caller chooses.',
  ],
  [
    'OPS-209',
    'docs/metrics.md#metrics',
    'Turns, calls of models, requests and what followers are given are counted as they happen.',
  ],
  [
    'OPS-210',
    'docs/metrics.md#metrics',
    'How much waits in a queue and for how long is read by its index, whatever waits.',
  ],
  [
    'OPS-211',
    'docs/metrics.md#scrape-with-prometheus',
    'A worker answers `/metrics` and `/health/*` at `VESTRA_OPERATOR_PORT`, and nothing else.',
  ],
  [
    'OPS-212',
    'docs/metrics.md#health',
    'The bare address leads to the guide and the API reference, and a browser finds no error at `/favicon.ico`.',
  ],
  [
    'OPS-213',
    'docs/operating.md#find-a-problem',
    '`vestra doctor` reports what is installed, reachable, writable and set wrongly, and what to do; it ends with 1 if something fails.',
  ],
  [
    'OPS-214',
    'docs/operating.md#find-a-problem',
    '`vestra doctor` asks vendors without spending money, lists models that end, and prints no secret.',
  ],
  [
    'OPS-215',
    'docs/going-live.md#two-modes-two-wallets',
    'The commands on the page about money and going live do what the page describes.',
  ],
  [
    'OPS-216',
    'docs/going-live.md#two-modes-two-wallets',
    'The command line names the command to run if an empty wallet or a cap stopped something.',
  ],
  [
    'OPS-280',
    'docs/backup.md#backing-up',
    'A replaced home is not removed while a backup is made, however long that takes.',
  ],
  [
    'OPS-281',
    'docs/backup.md#restoring',
    'A computer whose saved home is not in the backup begins with an empty one, and the command prints how many do.',
  ],
  [
    'OPS-282',
    'docs/files.md#move-files',
    '`vestra admin files copy` brings files between data folder and bucket: again for the rest after an interruption, each read again, damaged ones left out and counted.',
  ],
  [
    'OPS-420',
    'docs/operating.md#starting-and-stopping',
    'The log is readable lines at a terminal, and JSON lines everywhere else.',
  ],
  [
    'OPS-421',
    'docs/operating.md#starting-and-stopping',
    'Settings may stand in a `.env` of the folder that the server is started in; the environment counts before it.',
  ],
  [
    'OPS-320',
    'docs/cli.md',
    'The help of every command has a sentence for each flag and examples that work as they are written.',
  ],
  [
    'OPS-321',
    'docs/cli.md#choose-a-server-and-key',
    'Help, `vestra status` and `--debug` show the order in which a server and a key are looked for, and `status` which are used and from where; help lists every event type.',
  ],
  [
    'OPS-322',
    'docs/cli.md#choose-a-server-and-key',
    'If no server listens, a command reports that at the first try, and how to start one.',
  ],
  [
    'OPS-323',
    'docs/cli.md#output',
    '`vestra ask` ends with 5 if the agent waits for somebody, and with 1 if it failed.',
  ],
  [
    'OPS-324',
    'docs/cli-agents.md#ask-and-answer',
    'At a terminal `vestra ask` shows that the agent thinks, Markdown as styles and the tools that were called; `vestra trace` shows a reply or work as a tree with time, tokens and cost.',
  ],
  [
    'OPS-680',
    'docs/upgrading.md#migrations',
    'A new database is created from one baseline file; a database of version 0.2.0 starts unchanged, and an older one is refused with a sentence that names the version to start first.',
  ],
  [
    'OPS-681',
    'docs/upgrading.md#migrations',
    'A migration waits at most two seconds for a lock and then tries again; indexes on existing tables are built concurrently, also while other servers wait to start.',
  ],
  [
    'OPS-670',
    'docs/restarts.md',
    'A process that gets SIGTERM refuses new connections, keeps the streams of running replies open until their turns have settled, and exits after the last one.',
  ],
  [
    'OPS-671',
    'docs/restarts.md',
    'Calls that wait for a reply are answered to the end: `Prefer: wait`, OpenAI’s API, AG-UI, A2A and MCP.',
  ],
  [
    'OPS-672',
    'docs/restarts.md',
    'Streams on which nothing runs, turns that wait for a person and long polls of workers end at once.',
  ],
  ['OPS-673', 'docs/restarts.md', 'A stream stays open until its run ends also if another process works on that run.'],
  [
    'OPS-674',
    'docs/restarts.md',
    'After `VESTRA_STOP_SECONDS` the server ends the remaining streams and calls and says that it restarts.',
  ],
  [
    'OPS-722',
    'docs/metrics.md#health',
    'A database whose disk is full is not writable, and the server is not ready, until there is space.',
  ],
  [
    'OPS-721',
    'docs/operating.md#a-failing-model',
    'Each failed call of a model is one line in the log, with its vendor’s status and request id and without content.',
  ],
  [
    'OPS-720',
    'docs/operating.md#a-blocked-process',
    'A process whose event loop is blocked logs the latest routes and the place, and ends if it stays blocked.',
  ],
  [
    'OPS-730',
    'docs/restarts.md',
    'Many idle streams get their last event one after the other, so that their clients do not all reconnect at once.',
  ],
  [
    'OPS-732',
    'docs/failover-tests.md#rolling-restarts',
    'Two processes behind HAProxy are restarted in turn under load, and no stream of any kind is cut.',
  ],
  [
    'OPS-736',
    'docs/failover-tests.md#rolling-restarts',
    'HAProxy with the file in deploy sends each request on a new connection, so that none meets a connection that a stopping server closes.',
  ],
  [
    'OPS-737',
    'docs/failover-tests.md#rolling-restarts',
    'HAProxy with the file in deploy refuses no request because every process fails its check: it sends the request to one of them.',
  ],
  [
    'OPS-738',
    'docs/failover-tests.md#screens-and-calls',
    'Four processes are restarted in turn: each screen shows its page again, each call ends with the reason and continues in another process, and no spoken or typed message is lost or answered twice.',
  ],
  [
    'OPS-739',
    'docs/failover-tests.md#screens-and-calls',
    'A process that shuts down gives each computer to the other processes as soon as no run there uses it, and until then they wait for it.',
  ],
  [
    'OPS-733',
    'docs/upgrading.md#long-migrations',
    'A process is live and not ready while a migration runs, here or in another process.',
  ],
  [
    'OPS-734',
    'docs/upgrading.md#with-several-processes',
    'A version is not ready on a database from which a later migration removed what it needs, and ready on any other newer database.',
  ],
  [
    'OPS-735',
    'docs/upgrading.md#migrations',
    'A migration that removes something names the oldest migration whose versions can serve without it.',
  ],
  [
    'OPS-731',
    'docs/restarts.md',
    'A voice call continues until the reply is spoken; then its end names the restart, and the page calls again.',
  ],
  [
    'OPS-742',
    'docs/metrics.md#with-the-prometheus-operator',
    'The chart renders a ServiceMonitor that scrapes every pod of the server with the operator’s token.',
  ],
  [
    'OPS-743',
    'docs/metrics.md#with-the-prometheus-operator',
    'The PrometheusRule of the chart has exactly the alerts of `deploy/prometheus/alerts.yaml`.',
  ],
  [
    'OPS-744',
    'docs/production.md#backups-in-the-cluster',
    'The chart renders a CronJob that creates backups and deletes old ones after a new one is complete.',
  ],
  [
    'OPS-745',
    'docs/metrics.md#metrics',
    'Requests to the file store are counted by operation and outcome, and timed; alerts report a store that fails or is slow.',
  ],
  [
    'OPS-740',
    'docs/traces.md#traces-for-the-operator',
    'With `OTEL_EXPORTER_OTLP_ENDPOINT` the traces of every org and mode are sent to the operator’s collector, without content.',
  ],
  [
    'OPS-741',
    'docs/traces.md#traces-for-the-operator',
    'The resource of every trace has `service.version`, and a `service.instance.id` for each process.',
  ],
  [
    'OPS-746',
    'docs/shares.md#shares',
    'Processes that run tasks divide the items of one batch; what the others leave unused, any of them takes.',
  ],
]);
