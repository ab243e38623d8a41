/** Written by `npm run fix` from the table of routes. */
import type { Api } from '@vestra/contract/api';
import type { Call } from './call.ts';

/** Every route as `client.<family>.<operation>(fields, options)`. */
export type Calls = {
  deployments: {
    /**
     * List the deployments.
     *
     * Needs scope `setup`; newest first, archived ones included. Both modes see the same deployments.
     *
     * `GET /v1/deployments`, scope setup; `vestra deployments list`
     *
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    list: Call<Api['deployments']['list']>;
    /**
     * Create a deployment with a first draft version.
     *
     * For settings sent as JSON; to apply a whole file with its folders use `PUT`, the CLI or an SDK. Its first version is the draft that test keys run; nothing is live yet.
     *
     * `POST /v1/deployments`, scope setup; `vestra deployments create`
     *
     * - `name`: What people call it, 1 to 120 characters.
     * - `slug`: Its name in addresses; absent: made from `name`.
     * - `description`: What it is for, at most 2,000 characters; the agent card shows it.
     * - `manifest`: Settings of its first version; a key left out takes its default.
     * - `note`: A note on the version, at most 500 characters.
     *
     * @throws {VestraError} `invalid_manifest`, `invalid_language`, `invalid_repo`, `invalid_tool_input`, `duplicate_name`, `memory_endpoint_required`, `mcp_server_not_listed`, `raw_secret_in_header`, `secret_missing`, `tool_name_reserved`, `slug_taken`
     */
    create: Call<Api['deployments']['create']>;
    /**
     * Read one deployment, or its newest version as a deployment file in YAML.
     *
     * With `format=yaml` the answer is `application/yaml`, a file that changes nothing when it is applied again.
     *
     * `GET /v1/deployments/{deployment_id}`, scope setup; `vestra deployments get`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `format`: `yaml` answers the newest version as a deployment file.
     *
     * @throws {VestraError} `deployment_not_found`
     */
    get: Call<Api['deployments']['get']>;
    /**
     * Apply a deployment file; the first call for a name creates the deployment.
     *
     * Send the file as JSON; its `name` must equal the path. Registers MCP servers, replaces the file’s tests, routines and webhooks, and saves a version where something changed. Local folders cannot be read over HTTP: the CLI and the SDKs upload them first. All faults of the file come together in `errors`.
     *
     * `PUT /v1/deployments/{deployment_id}`, scope setup; `vestra deployments put`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `promote`: `after_tests`: it runs once the file’s tests pass; `now`: at once; `no`: it is only saved.
     * - `expected_version`: The `newest_version` that the file was written from, 0 for a deployment that is not there yet. Where another is the newest by then, nothing is applied (409 `deployment_changed`).
     * - `$schema`: The address of this schema, for editors; the service ignores it.
     * - `name`: The deployment’s name in addresses: lowercase letters, digits and dashes, at most 63.
     * - `instructions`: What the agent is, does and must not do, in your own words; at most 8,000 characters.
     * - `language`: A language tag such as `en`, `hi` or `pt-BR` that it answers in, or `auto` to follow each user.
     * - `model`: A model id of `GET /v1/models`, or `default` for the one that the server is set to.
     * - `apps`: Which apps users may connect: `all`, or the ids of `GET /v1/apps`.
     * - `approvals`: Which kinds of action are marked and worded as such when a yes is asked for.
     * - `limits`: Where work and replies are stopped, in money, steps and minutes.
     * - `tools`: MCP servers, each with `mcp`, and functions of your own code, each with `function`; at most 50.
     * - `skills`: A folder of skills, or a list of folders, of skills by `id`, and of built-in ones by `name`.
     * - `knowledge`: A folder or file to read from, or a list of paths and of notebooks by `notebook`.
     * - `memory`: Who keeps what is learnt of users: the service as `vestra`, your own endpoint as `customer`, nobody as `none`; absent: as the org has it.
     * - `computer`: How the agent’s computer is prepared before its first task.
     * - `browser`: Which sites the user’s browser may open; absent: a fetch opens nothing, and no page is closed to the agent.
     * - `routines`: What the agent does by itself on a schedule or on a call; they belong to this file.
     * - `tests`: Scenarios that are played before a version goes live; they belong to this file.
     * - `webhooks`: Addresses that hear this deployment’s events; they belong to this file.
     *
     * @throws {VestraError} `invalid_manifest`, `invalid_language`, `invalid_repo`, `invalid_tool_input`, `duplicate_name`, `memory_endpoint_required`, `mcp_server_not_listed`, `raw_secret_in_header`, `secret_missing`, `tool_name_reserved`, `auth_twice`, `invalid_schedule`, `invalid_trigger`, `invalid_user_timezone`, `name_mismatch`, `path_not_resolved`, `schedule_too_frequent`, `schedule_unreadable`, `secret_in_url`, `deployment_not_found`, `deployment_archived`, `deployment_changed`, `mcp_server_live`, `mcp_server_shared`
     */
    put: Call<Api['deployments']['put']>;
    /**
     * Change the name or description, which the agent card shows too; needs a live key once a version is live.
     *
     * Settings are not changed here but by a new version.
     *
     * `PATCH /v1/deployments/{deployment_id}`, scope setup; `vestra deployments update`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `name`: What people call it from now on; the slug stays.
     * - `description`: What it is for; an empty text clears it.
     *
     * @throws {VestraError} `deployment_not_found`, `live_key_required`
     */
    update: Call<Api['deployments']['update']>;
    /**
     * List the versions of a deployment, newest first.
     *
     * Each says what it changed, who saved it and how its tests went.
     *
     * `GET /v1/deployments/{deployment_id}/versions`, scope setup; `vestra versions list`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     *
     * @throws {VestraError} `deployment_not_found`
     */
    listVersions: Call<Api['deployments']['listVersions']>;
    /**
     * Read one version of a deployment.
     *
     * A version never changes; its `manifest` can be sent to create another deployment.
     *
     * `GET /v1/deployments/{deployment_id}/versions/{version}`, scope setup; `vestra versions get`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `version`: A version of the deployment: a whole number from 1.
     *
     * @throws {VestraError} `deployment_not_found`
     */
    getVersion: Call<Api['deployments']['getVersion']>;
    /**
     * Compare the documents and the files of skills of two versions.
     *
     * What `manifest` does not show: the texts that each version fixes. At most 500 changes, with about 1 MB of text; what is beyond is counted, or listed without its text.
     *
     * `GET /v1/deployments/{deployment_id}/versions/{version}/content-changes`, scope setup; `vestra versions content-changes`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `version`: A version of the deployment: a whole number from 1.
     * - `from`: The version to compare with; absent: the one before, and for version 1 nothing.
     *
     * @throws {VestraError} `deployment_not_found`, `version_not_found`
     */
    contentChanges: Call<Api['deployments']['contentChanges']>;
    /**
     * Let a version become the one that the key’s mode runs, at once or when its tests pass.
     *
     * With a live key live users get it from their next message on; with a test key the draft moves to it. Secrets, notebooks and skills that it needs are checked first. `after_tests` answers at once and promotes when the run has passed.
     *
     * `POST /v1/deployments/{deployment_id}/promote`, scope setup; `vestra deployments promote`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `version`: Which version, older ones included; absent: the newest.
     * - `when`: `now`: at once; `after_tests`: when its scenarios have passed.
     *
     * @throws {VestraError} `deployment_not_found`, `version_not_found`, `deployment_archived`, `version_incomplete`, `invalid_manifest`, `secret_missing`, `memory_endpoint_required`
     */
    promote: Call<Api['deployments']['promote']>;
    /**
     * Make the version that was live before live again at once; needs a live key.
     *
     * Promotions form a stack: calling it again goes one further back.
     *
     * `POST /v1/deployments/{deployment_id}/rollback`, scope setup; `vestra deployments rollback`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     *
     * @throws {VestraError} `live_key_required`, `deployment_not_found`, `deployment_archived`, `nothing_to_roll_back`, `version_incomplete`, `invalid_manifest`, `secret_missing`, `memory_endpoint_required`
     */
    rollback: Call<Api['deployments']['rollback']>;
    /**
     * Put a deployment away: no new conversation or version reaches it.
     *
     * Conversations that are going on are refused further messages. Needs a live key once a version is live.
     *
     * `POST /v1/deployments/{deployment_id}/archive`, scope setup; `vestra deployments archive`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     *
     * @throws {VestraError} `deployment_not_found`, `live_key_required`
     */
    archive: Call<Api['deployments']['archive']>;
    /**
     * Bring an archived deployment back.
     *
     * Its pointers are as they were. Needs a live key once a version is live.
     *
     * `POST /v1/deployments/{deployment_id}/unarchive`, scope setup; `vestra deployments unarchive`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     *
     * @throws {VestraError} `deployment_not_found`, `live_key_required`
     */
    unarchive: Call<Api['deployments']['unarchive']>;
    /**
     * Delete a deployment of which no version is live.
     *
     * Versions, scenarios and test runs go with it; conversations, usage and the audit log stay. Refused with `deployment_live` while a version is live.
     *
     * `DELETE /v1/deployments/{deployment_id}`, scope setup; `vestra deployments delete`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     *
     * @throws {VestraError} `deployment_not_found`, `deployment_live`
     */
    delete: Call<Api['deployments']['delete']>;
    /**
     * Describe a job and answer a few questions; the answer carries the deployment file so far.
     *
     * 201 begins, 200 goes on; five to eight questions at most. Nothing is saved: apply the file once it is `ready`.
     *
     * `POST /v1/deployments/interview`, scope setup; `vestra init`
     *
     * - `deployment`: The name that the new deployment will have; to begin.
     * - `describe`: The job, in your own words; to begin.
     * - `conversation`: The `conversation_id` of the answer before; to go on.
     * - `answer`: The answer to the last question; to go on.
     *
     * @throws {VestraError} `describe_or_answer`, `invalid_conversation_id`, `wallet_empty`, `org_cap_reached`, `conversation_not_found`, `deployment_archived`, `slug_taken`, `model_error`, `model_unavailable`, `timeout`
     */
    interview: Call<Api['deployments']['interview']>;
  };
  scenarios: {
    /**
     * List the scenarios of a deployment.
     *
     * Needs scope `setup`; newest first. Those that the file declares are among them.
     *
     * `GET /v1/deployments/{deployment_id}/scenarios`, scope setup; `vestra scenarios list`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     *
     * @throws {VestraError} `deployment_not_found`
     */
    list: Call<Api['scenarios']['list']>;
    /**
     * Add a scenario: a pretend user, a goal and what success means.
     *
     * It is played at the next test run. A tool with no entry in `tool_results` answers an error: a test never changes anything outside.
     *
     * `POST /v1/deployments/{deployment_id}/scenarios`, scope setup; `vestra scenarios create`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `name`: What the test is called; unique within the deployment’s file.
     * - `persona`: Who the pretend user is and how they talk.
     * - `goal`: What the pretend user wants, in their own words.
     * - `success_criteria`: What must be true at the end, 1 to 12 lines; every one must be met.
     * - `must_never`: What must never happen, at most 12 lines; any one fails the test.
     * - `tool_results`: What tools answer in this test, by the name of a declared tool or `<server slug>.<tool>`; one with no entry answers an error.
     * - `recorded_calls`: What tools answer to certain arguments, at most 50 calls; the same call again gets the next answer, and after the last that one. Any other call answers `tool_results`.
     * - `approves`: True: the pretend user says yes to tools of the deployment’s MCP servers; any other yes is always declined.
     *
     * @throws {VestraError} `deployment_not_found`
     */
    create: Call<Api['scenarios']['create']>;
    /**
     * Draft scenarios for a version; nothing is saved.
     *
     * A model reads the version’s instructions and tools and invents them; the call is billed. Keep the good ones with `POST …/scenarios`.
     *
     * `POST /v1/deployments/{deployment_id}/scenarios/generate`, scope setup; `vestra scenarios generate`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `count`: How many to draft, 1 to 10.
     * - `version`: The version to draft them for; absent: the newest.
     *
     * @throws {VestraError} `deployment_not_found`, `version_not_found`, `wallet_empty`, `org_cap_reached`, `model_error`, `model_unavailable`, `timeout`
     */
    generate: Call<Api['scenarios']['generate']>;
    /**
     * Read one scenario.
     *
     * What a test run plays, with what its tools answer.
     *
     * `GET /v1/deployments/{deployment_id}/scenarios/{scenario_id}`, scope setup; `vestra scenarios get`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `scenario_id`: The id of a scenario, `scn_` and 24 characters.
     *
     * @throws {VestraError} `deployment_not_found`
     */
    get: Call<Api['scenarios']['get']>;
    /**
     * Change a scenario; fields left out stay.
     *
     * Runs that have begun keep what they began with. One that the file declares is changed there (409 `managed_by_file`).
     *
     * `PATCH /v1/deployments/{deployment_id}/scenarios/{scenario_id}`, scope setup; `vestra scenarios update`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `scenario_id`: The id of a scenario, `scn_` and 24 characters.
     * - `name`: What the test is called; unique within the deployment’s file.
     * - `persona`: Who the pretend user is and how they talk.
     * - `goal`: What the pretend user wants, in their own words.
     * - `success_criteria`: What must be true at the end, 1 to 12 lines; every one must be met.
     * - `must_never`: What must never happen, at most 12 lines; any one fails the test.
     * - `tool_results`: What tools answer in this test, by the name of a declared tool or `<server slug>.<tool>`; one with no entry answers an error.
     * - `recorded_calls`: What tools answer to certain arguments, at most 50 calls; the same call again gets the next answer, and after the last that one. Any other call answers `tool_results`.
     * - `approves`: True: the pretend user says yes to tools of the deployment’s MCP servers.
     *
     * @throws {VestraError} `deployment_not_found`, `managed_by_file`
     */
    update: Call<Api['scenarios']['update']>;
    /**
     * Delete a scenario.
     *
     * Results of earlier runs stay. One that the file declares is removed there (409 `managed_by_file`).
     *
     * `DELETE /v1/deployments/{deployment_id}/scenarios/{scenario_id}`, scope setup; `vestra scenarios delete`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `scenario_id`: The id of a scenario, `scn_` and 24 characters.
     *
     * @throws {VestraError} `deployment_not_found`, `managed_by_file`
     */
    delete: Call<Api['scenarios']['delete']>;
  };
  testRuns: {
    /**
     * Play every scenario of a deployment against its latest version.
     *
     * Answers at once: follow it by its events, or `test_run.completed`. A run costs what its model calls cost. It plays at most 12 exchanges a scenario and changes nothing outside.
     *
     * `POST /v1/deployments/{deployment_id}/test-runs`, scope setup; `vestra test-runs create`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     *
     * @throws {VestraError} `deployment_not_found`, `deployment_archived`, `invalid_request`, `wallet_empty`, `org_cap_reached`, `model_unavailable`
     */
    create: Call<Api['testRuns']['create']>;
    /**
     * List the test runs of a deployment, newest first.
     *
     * Transcripts are left out here: read one run for them.
     *
     * `GET /v1/deployments/{deployment_id}/test-runs`, scope setup; `vestra test-runs list`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     *
     * @throws {VestraError} `deployment_not_found`
     */
    list: Call<Api['testRuns']['list']>;
    /**
     * Read a test run with the verdict on each scenario.
     *
     * A run that a restart cut off goes on by itself.
     *
     * `GET /v1/test-runs/{run_id}`, scope setup; `vestra test-runs get`
     *
     * - `run_id`: The id of a test run, `trun_` and 24 characters.
     */
    get: Call<Api['testRuns']['get']>;
    /**
     * Follow a test run: first where it stands, then each change, until it has ended.
     *
     * An event stream whose first event is where the run stands now, so that reconnecting needs no bookmark.
     *
     * `GET /v1/test-runs/{run_id}/events`, scope setup; `vestra test-runs events`
     *
     * - `run_id`: The id of a test run, `trun_` and 24 characters.
     */
    events: Call<Api['testRuns']['events']>;
    /**
     * Cancel a test run; one that has ended stays as it is.
     *
     * Scenarios that are being played end as `cancelled`, and nothing is promoted. A run begun with a live key is cancelled with one.
     *
     * `POST /v1/test-runs/{run_id}/cancel`, scope setup; `vestra test-runs cancel`
     *
     * - `run_id`: The id of a test run, `trun_` and 24 characters.
     *
     * @throws {VestraError} `live_key_required`
     */
    cancel: Call<Api['testRuns']['cancel']>;
  };
  replays: {
    /**
     * Have a version answer real talks again, and compare the answers.
     *
     * The person’s messages come in their order, and tools answer what they answered then: nothing is run, nobody’s memory, files or browser is touched. A call that was not made then answers an error. Answers at once; it costs what its model calls cost.
     *
     * `POST /v1/deployments/{deployment_id}/replays`, scope runtime; `vestra replays create`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `version`: The version that answers; absent: the newest.
     * - `conversation_ids`: Talks of this deployment in the mode of the key, at most 20; absent: the last ones.
     * - `last`: So many of the last talks that another version answered, 1 to 20; absent: 10. Not with `conversation_ids`.
     *
     * @throws {VestraError} `deployment_not_found`, `deployment_archived`, `version_not_found`, `conversation_not_found`, `invalid_request`, `wallet_empty`, `org_cap_reached`, `model_unavailable`
     */
    create: Call<Api['replays']['create']>;
    /**
     * List the replays of a deployment, newest first.
     *
     * Those of the mode of the key. What was said is left out here: read one for it.
     *
     * `GET /v1/deployments/{deployment_id}/replays`, scope runtime; `vestra replays list`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     *
     * @throws {VestraError} `deployment_not_found`
     */
    list: Call<Api['replays']['list']>;
    /**
     * Read a replay: both answers to each message, side by side.
     *
     * Of the mode of the key. One that a restart cut off goes on by itself; `replay.completed` tells of its end.
     *
     * `GET /v1/replays/{replay_id}`, scope runtime; `vestra replays get`
     *
     * - `replay_id`: The id of a replay of talks, `rpl_` and 24 characters.
     */
    get: Call<Api['replays']['get']>;
    /**
     * Cancel a replay; what was replayed until then stays and is paid for.
     *
     * One that has ended is answered as it is.
     *
     * `POST /v1/replays/{replay_id}/cancel`, scope runtime; `vestra replays cancel`
     *
     * - `replay_id`: The id of a replay of talks, `rpl_` and 24 characters.
     */
    cancel: Call<Api['replays']['cancel']>;
  };
  notebooks: {
    /**
     * List the notebooks.
     *
     * Needs scope `setup`; newest first. Both modes see the same notebooks.
     *
     * `GET /v1/notebooks`, scope setup; `vestra notebooks list`
     *
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    list: Call<Api['notebooks']['list']>;
    /**
     * Create a notebook for documents the agent reads before it answers.
     *
     * Name its id in `knowledge` of a file or `notebooks` of a manifest; until a version does, no agent reads it.
     *
     * `POST /v1/notebooks`, scope setup; `vestra notebooks create`
     *
     * - `name`: What people and the agent call it, 1 to 80 characters.
     * - `slug`: Its name in lists and files: lowercase letters, digits and hyphens, a letter first, at most 40.
     * - `description`: When to look in it, at most 300 characters: the agent decides by this.
     * - `access`: For which users the agent reads it; absent: all.
     *
     * @throws {VestraError} `slug_taken`
     */
    create: Call<Api['notebooks']['create']>;
    /**
     * Read one notebook.
     *
     * `document_count` and `bytes` say how full it is.
     *
     * `GET /v1/notebooks/{notebook_id}`, scope setup; `vestra notebooks get`
     *
     * - `notebook_id`: The id of a notebook, `nb_` and 24 characters.
     */
    get: Call<Api['notebooks']['get']>;
    /**
     * Change a notebook’s name, description or readers; fields left out stay.
     *
     * Takes effect at once, also for live versions; so one that is live needs a live key (409 `notebook_live`).
     *
     * `PATCH /v1/notebooks/{notebook_id}`, scope setup; `vestra notebooks update`
     *
     * - `notebook_id`: The id of a notebook, `nb_` and 24 characters.
     * - `name`: What people and the agent call it from now on.
     * - `description`: When to look in it: the agent decides by this.
     * - `access`: For which users the agent reads it from now on.
     *
     * @throws {VestraError} `notebook_live`
     */
    update: Call<Api['notebooks']['update']>;
    /**
     * Delete a notebook and its documents.
     *
     * Versions that use it do not run again. One that is live needs a live key (409 `notebook_live`).
     *
     * `DELETE /v1/notebooks/{notebook_id}`, scope setup; `vestra notebooks delete`
     *
     * - `notebook_id`: The id of a notebook, `nb_` and 24 characters.
     *
     * @throws {VestraError} `notebook_live`
     */
    delete: Call<Api['notebooks']['delete']>;
    /**
     * Search a notebook as the agent would.
     *
     * Answers the passages of its newest documents that fit best, by words and by meaning. A notebook for named users shows nothing to others.
     *
     * `GET /v1/notebooks/{notebook_id}/search`, scope setup; `vestra notebooks search`
     *
     * - `notebook_id`: The id of a notebook, `nb_` and 24 characters.
     * - `q`: What to look for, in plain words.
     * - `user_id`: As whose agent to search; left out: the org’s own.
     */
    search: Call<Api['notebooks']['search']>;
    /**
     * List the documents of a notebook.
     *
     * Newest first, without their text.
     *
     * `GET /v1/notebooks/{notebook_id}/documents`, scope setup; `vestra documents list`
     *
     * - `notebook_id`: The id of a notebook, `nb_` and 24 characters.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    listDocuments: Call<Api['notebooks']['listDocuments']>;
    /**
     * Add a document: title and text as JSON, or a multipart part `file` (text, CSV, JSON, YAML, XML, source code, Markdown, HTML, PDF, DOCX, XLSX, PPTX) with or without `title`.
     *
     * It is found by its words at once, and by meaning once it is `indexed`. With a test key live users see it after the next promotion.
     *
     * `POST /v1/notebooks/{notebook_id}/documents`, scope setup; `vestra documents create`
     *
     * - `notebook_id`: The id of a notebook, `nb_` and 24 characters.
     * - `promote`: `now`: with a live key the change reaches live users at once; `no`: only test traffic sees it until the next promotion.
     * - `title`: What it is called, 1 to 200 characters.
     * - `text`: Its text or Markdown, at most 512 KB.
     *
     * @throws {VestraError} `document_too_large`, `notebook_full`, `file_required`, `invalid_filename`
     */
    createDocument: Call<Api['notebooks']['createDocument']>;
    /**
     * Read one document with its text.
     *
     * The text is what the agent reads, not the file that was sent.
     *
     * `GET /v1/notebooks/{notebook_id}/documents/{document_id}`, scope setup; `vestra documents get`
     *
     * - `notebook_id`: The id of a notebook, `nb_` and 24 characters.
     * - `document_id`: The id of a document, `doc_` and 24 characters.
     */
    getDocument: Call<Api['notebooks']['getDocument']>;
    /**
     * Delete a document; versions that were saved with it keep it.
     *
     * With a live key it is gone for live users at once, as a new version of what uses it.
     *
     * `DELETE /v1/notebooks/{notebook_id}/documents/{document_id}`, scope setup; `vestra documents delete`
     *
     * - `notebook_id`: The id of a notebook, `nb_` and 24 characters.
     * - `document_id`: The id of a document, `doc_` and 24 characters.
     * - `promote`: `now`: with a live key the change reaches live users at once; `no`: only test traffic sees it until the next promotion.
     *
     * @throws {VestraError} `notebook_live`
     */
    deleteDocument: Call<Api['notebooks']['deleteDocument']>;
  };
  skills: {
    /**
     * List the org’s skills, or the built-in ones.
     *
     * Needs scope `setup`; newest first, without files.
     *
     * `GET /v1/skills`, scope setup; `vestra skills list`
     *
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     * - `source`: `company`: the org’s own; `built_in`: those that come with the service.
     */
    list: Call<Api['skills']['list']>;
    /**
     * Upload a skill: its files as JSON, a zip, or one multipart part `file` that is a zip.
     *
     * The frontmatter of `SKILL.md` gives `name` and `description`. Name its id in `skills` of a deployment; text files only.
     *
     * `POST /v1/skills`, scope setup; `vestra skills create`
     *
     * - `slug`: Its name in deployments; absent: the name in `SKILL.md`. With one of its own it may share that name with another skill.
     * - `files`: 1 to 200 text files of at most 5 MB together, a `SKILL.md` at the top among them.
     *
     * @throws {VestraError} `slug_taken`, `binary_file`, `bundle_too_large`, `duplicate_path`, `file_required`, `file_too_large`, `invalid_frontmatter`, `invalid_skill`, `invalid_zip`
     */
    create: Call<Api['skills']['create']>;
    /**
     * Read one skill with its files: the org’s by its id, a built-in one by its name.
     *
     * Built-in ones can be read to copy from.
     *
     * `GET /v1/skills/{skill_id}`, scope setup; `vestra skills get`
     *
     * - `skill_id`: The id of a skill of the org, or the name of a built-in one.
     */
    get: Call<Api['skills']['get']>;
    /**
     * Replace a skill’s files; files that differ make a new version.
     *
     * Send all files, not only those that changed. With a test key live users see it after the next promotion.
     *
     * `PUT /v1/skills/{skill_id}`, scope setup; `vestra skills replace`
     *
     * - `skill_id`: The id of a skill of the org, `skl_` and 24 characters.
     * - `promote`: `now`: with a live key the change reaches live users at once; `no`: only test traffic sees it until the next promotion.
     * - `files`: 1 to 200 text files of at most 5 MB together, a `SKILL.md` at the top among them.
     *
     * @throws {VestraError} `slug_taken`, `binary_file`, `bundle_too_large`, `duplicate_path`, `file_required`, `file_too_large`, `invalid_frontmatter`, `invalid_skill`, `invalid_zip`
     */
    replace: Call<Api['skills']['replace']>;
    /**
     * Delete a skill; it goes from every user.
     *
     * Versions that use it do not run again. One that is live needs a live key (409 `skill_live`).
     *
     * `DELETE /v1/skills/{skill_id}`, scope setup; `vestra skills delete`
     *
     * - `skill_id`: The id of a skill of the org, `skl_` and 24 characters.
     *
     * @throws {VestraError} `skill_live`
     */
    delete: Call<Api['skills']['delete']>;
    /**
     * List the versions of a skill, newest first.
     *
     * Each names the one before it, so that history can be followed.
     *
     * `GET /v1/skills/{skill_id}/versions`, scope setup; `vestra skills versions`
     *
     * - `skill_id`: The id of a skill of the org, `skl_` and 24 characters.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    versions: Call<Api['skills']['versions']>;
  };
  mcpServers: {
    /**
     * List the registered MCP servers.
     *
     * Needs scope `setup`; newest first. Both modes see the same servers.
     *
     * `GET /v1/mcp-servers`, scope setup; `vestra mcp-servers list`
     *
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    list: Call<Api['mcpServers']['list']>;
    /**
     * Register an MCP server; its tool lists are a floor under every deployment that uses it.
     *
     * A deployment file registers its servers by itself; this is for those shared by several. Store the secrets that its headers name, in each mode.
     *
     * `POST /v1/mcp-servers`, scope setup; `vestra mcp-servers create`
     *
     * - `name`: What people call it, 1 to 80 characters.
     * - `slug`: What the agent knows it by: lowercase letters, digits and hyphens, a letter first, at most 40.
     * - `url`: A public https address; a credential inside it is refused.
     * - `auth`: How it is called; absent: without credentials.
     * - `tools`: The floor for every deployment that uses it; absent: none.
     * - `sampling`: True: while one of its tools runs it may ask the agent’s model, which is charged to the user.
     *
     * @throws {VestraError} `slug_taken`, `tool_name_reserved`, `secret_in_url`, `raw_secret_in_header`
     */
    create: Call<Api['mcpServers']['create']>;
    /**
     * Read one MCP server.
     *
     * Which secrets it needs is in `secrets` and `user_secrets`.
     *
     * `GET /v1/mcp-servers/{server_id}`, scope setup; `vestra mcp-servers get`
     *
     * - `server_id`: The id of an MCP server, `mcp_` and 24 characters.
     */
    get: Call<Api['mcpServers']['get']>;
    /**
     * Change an MCP server for every deployment in both modes; a tool list left out stays.
     *
     * Users pick it up at their next task. A version calls only the URL that it fixed: with a new `url`, each live version that uses the server is followed by a version with that URL, live at once. While a version that is live, or can be rolled back to, uses it, this needs a live key, or an owner or admin (409 `mcp_server_live`).
     *
     * `PATCH /v1/mcp-servers/{server_id}`, scope setup; `vestra mcp-servers update`
     *
     * - `server_id`: The id of an MCP server, `mcp_` and 24 characters.
     * - `name`: What people call it from now on.
     * - `url`: The new address.
     * - `auth`: How it is called from now on; replaces all headers.
     * - `tools`: The new floor; a list left out stays.
     * - `sampling`: Whether it may ask the agent’s model from now on.
     *
     * @throws {VestraError} `secret_in_url`, `raw_secret_in_header`, `mcp_server_live`
     */
    update: Call<Api['mcpServers']['update']>;
    /**
     * Remove an MCP server.
     *
     * Each live version that lists it is followed by a version without it. Older versions list it under `missing` and cannot be promoted or rolled back to (409 `version_incomplete`). While a version that is live, or can be rolled back to, uses it, this needs a live key, or an owner or admin (409 `mcp_server_live`).
     *
     * `DELETE /v1/mcp-servers/{server_id}`, scope setup; `vestra mcp-servers delete`
     *
     * - `server_id`: The id of an MCP server, `mcp_` and 24 characters.
     *
     * @throws {VestraError} `mcp_server_live`
     */
    delete: Call<Api['mcpServers']['delete']>;
    /**
     * Call an MCP server and list the tools it offers.
     *
     * Calls it with the company’s secrets of the key’s mode. A server that is away answers 200 with `ok: false` and says why.
     *
     * `POST /v1/mcp-servers/{server_id}/check`, scope setup; `vestra mcp-servers check`
     *
     * - `server_id`: The id of an MCP server, `mcp_` and 24 characters.
     */
    check: Call<Api['mcpServers']['check']>;
  };
  secrets: {
    /**
     * List the names of the company’s secrets, or of one user’s; scope `runtime` alone needs a `user_id`.
     *
     * Values are never shown. Only those of the key’s mode.
     *
     * `GET /v1/secrets`, scope setup or runtime; `vestra secrets list`
     *
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     * - `user_id`: The names of this user’s; absent: the company’s.
     */
    list: Call<Api['secrets']['list']>;
    /**
     * Store a secret of the company, or of one user; scope `runtime` alone needs a `user_id`.
     *
     * Replaces a value of the same name; calls from now on use the new one. Kept encrypted, and apart for each mode.
     *
     * `PUT /v1/secrets/{name}`, scope setup or runtime; `vestra secrets set`
     *
     * - `name`: A capital letter, then capitals, digits and underscores, at most 64.
     * - `value`: The value, 1 to 8,192 characters; it is never shown again.
     * - `user_id`: Whose secret it is; absent: the company’s.
     *
     * @throws {VestraError} `user_disabled`
     */
    put: Call<Api['secrets']['put']>;
    /**
     * Delete a secret of the company, or of one user; scope `runtime` alone needs a `user_id`.
     *
     * Servers and files that name it fail from then on with `secret_missing`.
     *
     * `DELETE /v1/secrets/{name}`, scope setup or runtime; `vestra secrets delete`
     *
     * - `name`: A capital letter, then capitals, digits and underscores, at most 64.
     * - `user_id`: Whose secret; absent: the company’s.
     *
     * @throws {VestraError} `secret_not_found`
     */
    delete: Call<Api['secrets']['delete']>;
  };
  conversations: {
    /**
     * List conversations, newest first: one user’s, or all of the org’s.
     *
     * Needs scope `runtime`. Conversations that test runs play are not listed.
     *
     * `GET /v1/conversations`, scope runtime; `vestra conversations list`
     *
     * - `user_id`: Only this user’s; absent: everybody’s, the org’s own agent included.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    list: Call<Api['conversations']['list']>;
    /**
     * Start a conversation, with or without its first message.
     *
     * The user is made on first use. With a `message` the turn begins at once: the answer carries its `turn_id`, or with `stream: true` its events until it settles. Test keys run the draft of the deployment, live keys its live version.
     *
     * `POST /v1/conversations`, scope runtime; `vestra conversations create`
     *
     * - `user_id`: Whose conversation it is; absent: the org’s own agent, unless the org requires a user.
     * - `deployment`: Which agent answers: a dep_ id, a slug or a name, `@version` to pin one; absent: the user’s default, then the org’s.
     * - `metadata`: Your own labels, given back as sent; the agent never reads them. At most 32, each of 512 characters.
     * - `message`: What the user says, at most 32,000 characters.
     * - `context`: Data for this message alone; the agent reads it as data, never as instructions.
     * - `attachments`: Files uploaded before with `POST /v1/files`, at most 10.
     * - `output_schema`: A JSON Schema that the structured answer fits, at most 32 KB.
     * - `success_criteria`: What work must reach; a judge decides on it at the end and the task’s `outcome` tells.
     * - `tools`: Functions of yours that the agent may call for this message, besides those of the deployment; at most 32.
     * - `hand_off`: `auto`: the agent decides whether it answers or hands over to work; `always`: straight to work.
     * - `plan`: Work shows its plan and waits for a yes before it starts.
     * - `stream`: Answer with the events of the turn until it settles.
     *
     * @throws {VestraError} `message_required`, `output_schema_invalid`, `output_schema_too_large`, `invalid_tool_input`, `tool_name_reserved`, `duplicate_name`, `user_disabled`, `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`, `user_required`, `invalid_deployment`, `deployment_required`
     */
    create: Call<Api['conversations']['create']>;
    /**
     * Show a conversation with its open work, interactions and tool calls.
     *
     * Also for a session token with `chat`. To follow it without missing anything, stream its events after `last_event_seq`.
     *
     * `GET /v1/conversations/{conversation_id}`, scope runtime; `vestra conversations get`
     *
     * - `conversation_id`: The id of a conversation, `conv_` and 24 characters.
     *
     * @throws {VestraError} `conversation_not_found`
     */
    get: Call<Api['conversations']['get']>;
    /**
     * Send a message; the turn is answered at once, held for with `Prefer: wait=N`, or streamed.
     *
     * A message sent while a reply is being made waits its turn, or with `when_busy: interrupt` takes its place; open work goes on meanwhile. `tool_results` answer open calls of your functions. 200: the turn has settled; 202: it goes on, follow the events.
     *
     * `POST /v1/conversations/{conversation_id}/messages`, scope runtime; `vestra conversations send`
     *
     * - `conversation_id`: The id of a conversation, `conv_` and 24 characters.
     * - `message`: What the user says, at most 32,000 characters.
     * - `context`: Data for this message alone; the agent reads it as data, never as instructions.
     * - `attachments`: Files uploaded before with `POST /v1/files`, at most 10.
     * - `output_schema`: A JSON Schema that the structured answer fits, at most 32 KB.
     * - `success_criteria`: What work must reach; a judge decides on it at the end and the task’s `outcome` tells.
     * - `tools`: Functions of yours that the agent may call for this message, besides those of the deployment; at most 32.
     * - `hand_off`: `auto`: the agent decides whether it answers or hands over to work; `always`: straight to work.
     * - `plan`: Work shows its plan and waits for a yes before it starts.
     * - `stream`: Answer with the events of the turn until it settles.
     * - `when_busy`: While a reply is being made: `queue` waits behind it; `interrupt` stops it and the messages that wait, and is answered at once. Open work goes on.
     * - `tool_results`: Results of open calls of your functions, at most 32; each carries `output` or `error`.
     *
     * @throws {VestraError} `message_required`, `output_schema_invalid`, `output_schema_too_large`, `invalid_tool_input`, `tool_name_reserved`, `duplicate_name`, `user_disabled`, `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`, `conversation_not_found`, `answer_mismatch`, `interaction_not_found`, `already_answered`, `interaction_expired`
     */
    send: Call<Api['conversations']['send']>;
    /**
     * List the messages of a conversation, newest first: the user’s, the agent’s and summaries of work.
     *
     * Pages go back in time. Deltas of a reply are on the event stream alone.
     *
     * `GET /v1/conversations/{conversation_id}/messages`, scope runtime; `vestra conversations messages`
     *
     * - `conversation_id`: The id of a conversation, `conv_` and 24 characters.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     *
     * @throws {VestraError} `conversation_not_found`
     */
    messages: Call<Api['conversations']['messages']>;
    /**
     * Follow a conversation as server-sent events, or read its events as JSON pages.
     *
     * Reconnect with `Last-Event-ID`, or `after`: every `seq` comes once and in order. The stream stays open, with a comment line every 15 seconds; `format=json` answers pages in its place. Old events are pruned from the start, after 30 days unless the operator says otherwise.
     *
     * `GET /v1/conversations/{conversation_id}/events`, scope runtime
     *
     * - `conversation_id`: The id of a conversation, `conv_` and 24 characters.
     * - `task_id`: Only events of this piece of work.
     * - `format`: `json` answers a page of events at once in place of a stream.
     * - `after`: The `seq` after which to begin; absent: from the first event that is kept.
     * - `limit`: How many entries a page holds, 1 to 100.
     *
     * @throws {VestraError} `conversation_not_found`, `invalid_task_id`, `task_not_found`, `invalid_last_event_id`
     */
    events: Call<Api['conversations']['events']>;
    /**
     * Show a turn: how far one message has come, its reply, or why it failed.
     *
     * The same turn that sending the message returned and that `turn.settled` carries, as it is now.
     *
     * `GET /v1/conversations/{conversation_id}/turns/{turn_id}`, scope runtime; `vestra conversations turn`
     *
     * - `conversation_id`: The id of a conversation, `conv_` and 24 characters.
     * - `turn_id`: The id of a turn of this conversation, `turn_…`.
     *
     * @throws {VestraError} `conversation_not_found`, `turn_not_found`
     */
    turn: Call<Api['conversations']['turn']>;
    /**
     * Show each step and each model call of a reply; work that it handed over has a trace of its own.
     *
     * Model calls with tokens and cost, tools with one line of input and output, and tool servers that were away. Work that the turn began is traced by `GET /v1/tasks/{task_id}/trace`.
     *
     * `GET /v1/conversations/{conversation_id}/turns/{turn_id}/trace`, scope runtime; `vestra conversations trace`
     *
     * - `conversation_id`: The id of a conversation, `conv_` and 24 characters.
     * - `turn_id`: The id of a turn of this conversation, `turn_…`.
     *
     * @throws {VestraError} `conversation_not_found`, `turn_not_found`
     */
    trace: Call<Api['conversations']['trace']>;
    /**
     * Stop the reply and every task the conversation started.
     *
     * What has been said and spent stays. Tasks end as `failed` with the error `stopped`; open interactions are cancelled.
     *
     * `POST /v1/conversations/{conversation_id}/stop`, scope runtime; `vestra conversations stop`
     *
     * - `conversation_id`: The id of a conversation, `conv_` and 24 characters.
     *
     * @throws {VestraError} `conversation_not_found`
     */
    stop: Call<Api['conversations']['stop']>;
    /**
     * Draft a scenario of a talk, with what its tools answered; nothing is saved.
     *
     * The first message becomes the goal, and the results of the deployment’s own tools are kept; credentials are taken out. Where the version has a model of a provider that words the criteria, and the call is billed. Keep it with `POST …/scenarios`.
     *
     * `POST /v1/conversations/{conversation_id}/scenario-draft`, scope runtime; `vestra conversations draft-scenario`
     *
     * - `conversation_id`: The id of a conversation, `conv_` and 24 characters.
     * - `task_id`: A task of the conversation: only it and the message that began it are taken; absent: the whole talk.
     *
     * @throws {VestraError} `conversation_not_found`, `task_not_found`, `deployment_not_found`, `invalid_request`
     */
    draftScenario: Call<Api['conversations']['draftScenario']>;
  };
  feedback: {
    /**
     * Say whether an answer was good or bad; each rater has one say, and the last counts.
     *
     * Of an answer of the agent, not of what the user said. It counts for the version that gave the answer, and webhooks hear `message.feedback`.
     *
     * `POST /v1/messages/{message_id}/feedback`, scope runtime; `vestra feedback rate`
     *
     * - `message_id`: An answer of the agent.
     * - `rating`: Whether the answer was good or bad.
     * - `note`: What was good or bad about it.
     */
    rate: Call<Api['feedback']['rate']>;
    /**
     * List what was said of the answers of a conversation, newest first; a session sees its user’s own.
     *
     * All raters’ for a key or a member. A session uses it to show which answers its user has rated already.
     *
     * `GET /v1/conversations/{conversation_id}/feedback`, scope runtime; `vestra feedback conversation`
     *
     * - `conversation_id`: The conversation in which the answer was given.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     *
     * @throws {VestraError} `conversation_not_found`
     */
    ofConversation: Call<Api['feedback']['ofConversation']>;
    /**
     * List what was said of a deployment’s answers in the mode of the call, newest first.
     *
     * Each names its conversation, so that the answer can be read where it was given.
     *
     * `GET /v1/deployments/{deployment_id}/feedback`, scope runtime; `vestra feedback list`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `rating`: Only the good, or only the bad.
     * - `version`: Only answers of this version.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     *
     * @throws {VestraError} `deployment_not_found`
     */
    list: Call<Api['feedback']['list']>;
    /**
     * Count what was said of a deployment’s answers per version, the newest version first.
     *
     * One line for each version whose answers were rated, in the mode of the call.
     *
     * `GET /v1/deployments/{deployment_id}/feedback/counts`, scope runtime; `vestra feedback counts`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     *
     * @throws {VestraError} `deployment_not_found`
     */
    counts: Call<Api['feedback']['counts']>;
  };
  interactions: {
    /**
     * List what the agent waits on, calls to the caller’s own tools included.
     *
     * Needs scope `runtime`. Listen to `interaction.created` rather than poll.
     *
     * `GET /v1/interactions`, scope runtime; `vestra interactions list`
     *
     * - `user_id`: Only this user’s; absent: everybody’s.
     * - `conversation_id`: Only those of this conversation.
     * - `task_id`: Only those of this piece of work.
     * - `type`: Only those that take this answer; `tool_call` for calls of your functions alone.
     * - `kind`: Only those of this kind.
     * - `approver`: Approvals that wait for the user, or for the org.
     * - `status`: Only those in this state; the open ones unless said.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     *
     * @throws {VestraError} `invalid_conversation_id`, `invalid_task_id`
     */
    list: Call<Api['interactions']['list']>;
    /**
     * Show an interaction; a hand-off carries a picture of the page.
     *
     * Open to a session token of the same conversation. `questions`, `browser` and `details` say what to show; `type` says what to answer.
     *
     * `GET /v1/interactions/{interaction_id}`, scope runtime; `vestra interactions get`
     *
     * - `interaction_id`: The id of an interaction, `int_…`, or of a call of your function, `call_…`.
     */
    get: Call<Api['interactions']['get']>;
    /**
     * Answer an interaction with the body its type takes.
     *
     * Approval: `approve`. Question: `answers`, one for each. Hand-off: `decision`, or `answers` where it asks for a value. Your function: `output` or `error`. An app is connected with `POST /v1/connections` in place of an answer. Of two answers at once one counts; the other hears `already_answered`.
     *
     * `POST /v1/interactions/{interaction_id}/answer`, scope runtime; `vestra interactions answer`
     *
     * - `interaction_id`: The id of an interaction, `int_…`, or of a call of your function, `call_…`.
     * - `approve`: Of an approval: true for yes, false for no. False also declines a question.
     * - `answers`: One answer per question, in order.
     * - `decision`: Of a hand-off: how it went.
     * - `output`: What the caller’s tool returned.
     * - `error`: Why the caller’s tool failed.
     * - `present_user`: The yes comes from a person who is present.
     * - `nonce`: Of an approval in person: the `nonce` that the interaction shows.
     *
     * @throws {VestraError} `answer_mismatch`, `answers_mismatch`, `answers_not_expected`, `answers_required`, `connect_app_instead`, `decision_not_expected`, `install_ability_instead`, `nonce_mismatch`, `present_user_required`, `already_answered`, `interaction_expired`
     */
    answer: Call<Api['interactions']['answer']>;
    /**
     * Withdraw an interaction; the task carries on without that action.
     *
     * For a question that has become pointless. The agent hears that nobody answered and goes on; an approval that is withdrawn counts as a no.
     *
     * `POST /v1/interactions/{interaction_id}/cancel`, scope runtime; `vestra interactions cancel`
     *
     * - `interaction_id`: The id of an interaction, `int_…`, or of a call of your function, `call_…`.
     *
     * @throws {VestraError} `already_answered`, `interaction_expired`
     */
    cancel: Call<Api['interactions']['cancel']>;
  };
  functions: {
    /**
     * List the functions that the company’s own code answers, of the version that the key’s mode runs.
     *
     * Needs scope `runtime` or `setup`. What a worker needs to know before it takes calls.
     *
     * `GET /v1/deployments/{deployment_id}/functions`, scope runtime or setup; `vestra functions list`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     *
     * @throws {VestraError} `deployment_not_found`, `deployment_archived`, `deployment_not_live`
     */
    list: Call<Api['functions']['list']>;
    /**
     * Take calls of functions that wait, of any conversation of the deployment; waits until there are some.
     *
     * For workers behind a firewall: long-poll with `wait_s`, carry out what comes, and answer it with `POST /v1/interactions/{call_id}/answer`. A call that is neither renewed nor answered in `lease_s` goes to another worker with `attempt` counted up.
     *
     * `POST /v1/deployments/{deployment_id}/tool-calls/take`, scope runtime
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `functions`: The functions whose calls are taken.
     * - `limit`: How many calls to take at most.
     * - `lease_s`: How long nobody else takes the call, from now on.
     * - `wait_s`: How long to wait where no call is open.
     *
     * @throws {VestraError} `deployment_not_found`
     */
    take: Call<Api['functions']['take']>;
    /**
     * Keep a call that was taken for longer, and say how far it is.
     *
     * Call it before `taken_until`. Answers `tool_call_taken` where another worker has the call by now: stop then.
     *
     * `POST /v1/tool-calls/{call_id}/renew`, scope runtime
     *
     * - `call_id`: The id of a call of one of your own functions, `call_` and 24 characters.
     * - `claim_id`: Tells who has taken the call, from `take`.
     * - `lease_s`: How long nobody else takes the call, from now on.
     * - `progress`: Shown to the person while they wait.
     *
     * @throws {VestraError} `already_answered`, `interaction_expired`, `tool_call_taken`
     */
    renew: Call<Api['functions']['renew']>;
    /**
     * Give back a call that was taken: others may take it at once.
     *
     * For a worker that shuts down. The attempt it took stays counted.
     *
     * `POST /v1/tool-calls/{call_id}/release`, scope runtime
     *
     * - `call_id`: The id of a call of one of your own functions, `call_` and 24 characters.
     * - `claim_id`: Tells who has taken the call, from `take`.
     *
     * @throws {VestraError} `already_answered`, `interaction_expired`, `tool_call_taken`
     */
    release: Call<Api['functions']['release']>;
    /**
     * Show the https address that answers the deployment’s functions in the key’s mode.
     *
     * Kept per mode. Where an address is set, calls go there and need not be taken.
     *
     * `GET /v1/deployments/{deployment_id}/function-endpoint`, scope setup; `vestra functions endpoint`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     *
     * @throws {VestraError} `deployment_not_found`, `function_endpoint_not_found`
     */
    endpoint: Call<Api['functions']['endpoint']>;
    /**
     * Name the https address that answers the deployment’s functions; its signing secret is shown once.
     *
     * The address gets each call as a signed POST and answers it. Kept per mode: a live key sets the live one. Setting another address keeps the secret.
     *
     * `PUT /v1/deployments/{deployment_id}/function-endpoint`, scope setup; `vestra functions set-endpoint`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `url`: A public https address that answers calls within the function’s `timeout_s`.
     *
     * @throws {VestraError} `deployment_not_found`
     */
    setEndpoint: Call<Api['functions']['setEndpoint']>;
    /**
     * Call that address no more.
     *
     * Calls then wait to be taken or answered over the API.
     *
     * `DELETE /v1/deployments/{deployment_id}/function-endpoint`, scope setup; `vestra functions delete-endpoint`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     *
     * @throws {VestraError} `deployment_not_found`, `function_endpoint_not_found`
     */
    deleteEndpoint: Call<Api['functions']['deleteEndpoint']>;
    /**
     * Give that address a new signing secret; the old one is accepted for 24 hours.
     *
     * Calls carry a signature of each secret for 24 hours, so that nothing is refused meanwhile.
     *
     * `POST /v1/deployments/{deployment_id}/function-endpoint/roll-secret`, scope setup; `vestra functions roll-secret`
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     *
     * @throws {VestraError} `deployment_not_found`, `function_endpoint_not_found`
     */
    rollEndpointSecret: Call<Api['functions']['rollEndpointSecret']>;
  };
  tasks: {
    /**
     * List pieces of work, newest first.
     *
     * Needs scope `runtime`. Filters narrow the list together. The text of a result is cut to 280 characters here; read the task for all of it.
     *
     * `GET /v1/tasks`, scope runtime; `vestra tasks list`
     *
     * - `status`: Only tasks that are in this state.
     * - `user_id`: Only this user’s; absent: everybody’s.
     * - `deployment_id`: Only of this deployment: its id, slug or name.
     * - `conversation_id`: Only what this conversation asked for.
     * - `created_after`: Only those made at this moment or later.
     * - `created_before`: Only those made before this moment.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     *
     * @throws {VestraError} `invalid_deployment_id`, `invalid_conversation_id`
     */
    list: Call<Api['tasks']['list']>;
    /**
     * Show a task with the full text of its result.
     *
     * Poll it, or better follow the conversation’s events: `task.completed`, `task.failed` and `task.stopped` tell the end.
     *
     * `GET /v1/tasks/{task_id}`, scope runtime; `vestra tasks get`
     *
     * - `task_id`: The id of a piece of work, `task_` and 24 characters.
     *
     * @throws {VestraError} `task_not_found`
     */
    get: Call<Api['tasks']['get']>;
    /**
     * Delete a task and its outputs; a running one is stopped first.
     *
     * What it has spent stays in the usage report. Its files that were outputs go with it, and nothing brings them back.
     *
     * `DELETE /v1/tasks/{task_id}`, scope runtime; `vestra tasks delete`
     *
     * - `task_id`: The id of a piece of work, `task_` and 24 characters.
     *
     * @throws {VestraError} `task_not_found`
     */
    delete: Call<Api['tasks']['delete']>;
    /**
     * Show each step and each model call of a task.
     *
     * Inputs and outputs are shown as one line each, never raw. Steps are kept for as long as the operator’s setting says, 90 days unless changed; the totals stay.
     *
     * `GET /v1/tasks/{task_id}/trace`, scope runtime; `vestra tasks trace`
     *
     * - `task_id`: The id of a piece of work, `task_` and 24 characters.
     *
     * @throws {VestraError} `task_not_found`
     */
    trace: Call<Api['tasks']['trace']>;
    /**
     * Answer the structured result of a task alone; null until there is one.
     *
     * Answers the bare value, so that it can be fed to a program. Refused with `no_output_schema` where the message asked for none.
     *
     * `GET /v1/tasks/{task_id}/data`, scope runtime; `vestra tasks data`
     *
     * - `task_id`: The id of a piece of work, `task_` and 24 characters.
     *
     * @throws {VestraError} `task_not_found`, `no_output_schema`
     */
    data: Call<Api['tasks']['data']>;
  };
  batches: {
    /**
     * List batches, newest first.
     *
     * Needs scope `runtime`. Only those of the key’s mode.
     *
     * `GET /v1/batches`, scope runtime; `vestra batches list`
     *
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    list: Call<Api['batches']['list']>;
    /**
     * Run one conversation per item, each straight to work, for up to 5,000 items.
     *
     * Answers at once; items begin in the background, and `batch.completed` tells the end. An item that waits for a person gives its place to the next. Takes bodies of up to 32 MiB.
     *
     * `POST /v1/batches`, scope runtime; `vestra batches create`
     *
     * - `deployment`: A dep_ id, a slug or a name without `@version`; absent: the org’s default.
     * - `items`: 1 to 5,000 messages, each a conversation of its own.
     * - `concurrency`: How many items run at once, 1 to 100.
     * - `metadata`: Your own labels, given back as sent; the agent never reads them. At most 32, each of 512 characters.
     *
     * @throws {VestraError} `user_required`, `invalid_deployment`, `deployment_required`, `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`, `model_unavailable`
     */
    create: Call<Api['batches']['create']>;
    /**
     * Show a batch with its counts and spend.
     *
     * `counts` and `spend_usd` are of this moment.
     *
     * `GET /v1/batches/{batch_id}`, scope runtime; `vestra batches get`
     *
     * - `batch_id`: The id of a batch, `bat_` and 24 characters.
     */
    get: Call<Api['batches']['get']>;
    /**
     * List the items of a batch in the order they were sent.
     *
     * Results are read here: pages are stable while the batch runs.
     *
     * `GET /v1/batches/{batch_id}/items`, scope runtime; `vestra batches items`
     *
     * - `batch_id`: The id of a batch, `bat_` and 24 characters.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    items: Call<Api['batches']['items']>;
    /**
     * Start no further item of a batch; running ones finish.
     *
     * Items that have not begun become `cancelled`; what is running ends by itself. Refused with `batch_finished` once all have ended.
     *
     * `POST /v1/batches/{batch_id}/cancel`, scope runtime; `vestra batches cancel`
     *
     * - `batch_id`: The id of a batch, `bat_` and 24 characters.
     *
     * @throws {VestraError} `batch_finished`
     */
    cancel: Call<Api['batches']['cancel']>;
  };
  routines: {
    /**
     * List the routines of one user, or of the org’s own agent.
     *
     * Needs scope `runtime`. Newest first.
     *
     * `GET /v1/routines`, scope runtime; `vestra routines list`
     *
     * - `user_id`: Whose routines; absent: those of the org’s own agent.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     *
     * @throws {VestraError} `user_required`
     */
    list: Call<Api['routines']['list']>;
    /**
     * Ask something on a schedule, or whenever your own system calls.
     *
     * Give exactly one of `every`, `schedule` and `on: call`. It runs at most once every 15 minutes; runs that were missed while the server was down run once.
     *
     * `POST /v1/routines`, scope runtime; `vestra routines add`
     *
     * - `ask`: What the agent is asked at every run, 1 to 8,000 characters.
     * - `name`: What it is called; absent: the start of `ask`.
     * - `every`: Plain words such as `weekday at 08:00`, `mon, wed, fri at 18:30`, `30 minutes` or `month on the 1st at 09:00`.
     * - `schedule`: A cron schedule in place of plain words.
     * - `on`: `call`: it runs whenever your system posts to its `trigger_url`.
     * - `timezone`: The IANA time zone of the schedule; absent: the user’s, then UTC.
     * - `user_id`: Whom it runs for; absent: the org’s own agent, unless the org requires a user.
     * - `conversation_id`: An existing conversation of the same user to run in; absent: one of its own.
     * - `deployment`: Which agent runs it: a dep_ id, a slug or a name; absent: the user’s default, then the org’s.
     * - `filters`: With `on: call`: fields and values that a payload must carry.
     * - `enabled`: False: it is kept and does not run yet.
     *
     * @throws {VestraError} `invalid_schedule`, `schedule_unreadable`, `schedule_too_frequent`, `invalid_user_timezone`, `invalid_trigger`, `invalid_conversation_id`, `conversation_not_found`, `conversation_user_mismatch`, `invalid_deployment`, `deployment_required`, `user_required`, `user_disabled`, `deployment_not_live`, `deployment_archived`
     */
    create: Call<Api['routines']['create']>;
    /**
     * Show a routine with its last and next run.
     *
     * `last_error` says why a run that was due did not happen.
     *
     * `GET /v1/routines/{routine_id}`, scope runtime; `vestra routines get`
     *
     * - `routine_id`: The id of a routine, `rtn_` and 24 characters.
     */
    get: Call<Api['routines']['get']>;
    /**
     * Change a routine; `enabled: false` pauses it.
     *
     * Fields left out stay. One that a deployment file declares is changed there (409 `managed_by_file`).
     *
     * `PATCH /v1/routines/{routine_id}`, scope runtime; `vestra routines update`
     *
     * - `routine_id`: The id of a routine, `rtn_` and 24 characters.
     * - `ask`: What the agent is asked from now on.
     * - `name`: What it is called; absent: the start of `ask`.
     * - `every`: Plain words such as `weekday at 08:00`, `mon, wed, fri at 18:30`, `30 minutes` or `month on the 1st at 09:00`.
     * - `schedule`: A cron schedule in place of plain words.
     * - `on`: `call`: it runs whenever your system posts to its `trigger_url`.
     * - `timezone`: The IANA time zone of the schedule; absent: the user’s, then UTC.
     * - `user_id`: Whom it runs for; absent: the org’s own agent, unless the org requires a user.
     * - `conversation_id`: An existing conversation of the same user to run in; absent: one of its own.
     * - `deployment`: Which agent runs it: a dep_ id, a slug or a name; absent: the user’s default, then the org’s.
     * - `filters`: With `on: call`: fields and values that a payload must carry; null: any payload runs it.
     * - `enabled`: False pauses it and keeps its schedule; true resumes it.
     *
     * @throws {VestraError} `invalid_schedule`, `schedule_unreadable`, `schedule_too_frequent`, `invalid_user_timezone`, `invalid_trigger`, `invalid_conversation_id`, `conversation_not_found`, `conversation_user_mismatch`, `invalid_deployment`, `deployment_required`, `user_required`, `user_disabled`, `deployment_not_live`, `deployment_archived`, `not_a_schedule_routine`, `managed_by_file`
     */
    update: Call<Api['routines']['update']>;
    /**
     * Delete a routine; its conversation stays.
     *
     * A run that has begun goes on.
     *
     * `DELETE /v1/routines/{routine_id}`, scope runtime; `vestra routines delete`
     *
     * - `routine_id`: The id of a routine, `rtn_` and 24 characters.
     *
     * @throws {VestraError} `managed_by_file`
     */
    delete: Call<Api['routines']['delete']>;
    /**
     * Run a routine once, now.
     *
     * Also for one that is paused. The answer names the turn to follow.
     *
     * `POST /v1/routines/{routine_id}/run`, scope runtime; `vestra routines run`
     *
     * - `routine_id`: The id of a routine, `rtn_` and 24 characters.
     *
     * @throws {VestraError} `user_disabled`, `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`
     */
    run: Call<Api['routines']['run']>;
    /**
     * Run a routine that waits for a call, with a payload of at most 4 KB.
     *
     * The payload reaches the agent as data, never as instructions. A payload that does not match the filters answers `filtered` and runs nothing.
     *
     * `POST /v1/routines/{routine_id}/trigger`, scope runtime; `vestra routines trigger`
     *
     * - `routine_id`: The id of a routine, `rtn_` and 24 characters.
     *
     * @throws {VestraError} `user_disabled`, `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`, `payload_too_large`, `not_a_trigger_routine`
     */
    trigger: Call<Api['routines']['trigger']>;
  };
  users: {
    /**
     * List users, newest first.
     *
     * Needs scope `runtime`. Only users of the key’s mode; those that test runs pretend are left out.
     *
     * `GET /v1/users`, scope runtime; `vestra users list`
     *
     * - `status`: Only users in this state.
     * - `email`: Only the user with this email address.
     * - `created_after`: Only users made at this moment or later.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    list: Call<Api['users']['list']>;
    /**
     * Create a user; repeating an existing id changes nothing.
     *
     * Rarely needed: any call that names a `user_id` makes the user. Use it to give a name, a language and a time zone first.
     *
     * `POST /v1/users`, scope runtime; `vestra users create`
     *
     * - `user_id`: Your own id of the user: 1 to 128 letters, digits or any of `. _ : @ -`.
     * - `name`: What the user is called, at most 200 characters.
     * - `email`: The user’s email address.
     * - `locale`: The user’s language as a tag such as `en` or `pt-BR`.
     * - `timezone`: The user’s IANA time zone such as `Europe/Berlin`, which routines run in.
     * - `metadata`: Your own facts about the user; replaces what was kept.
     *
     * @throws {VestraError} `invalid_language`, `invalid_user_timezone`, `user_disabled`
     */
    create: Call<Api['users']['create']>;
    /**
     * Show a user with today’s and this month’s spend against the caps.
     *
     * Spend is of the UTC day and month, and counted as it happens.
     *
     * `GET /v1/users/{user_id}`, scope runtime; `vestra users get`
     *
     * - `user_id`: Your own id of the user: a user exists from its first use.
     */
    get: Call<Api['users']['get']>;
    /**
     * Change a user’s profile, caps, default deployment or status; null clears a field.
     *
     * Fields left out stay. A new cap counts from the next message on.
     *
     * `PATCH /v1/users/{user_id}`, scope runtime; `vestra users update`
     *
     * - `user_id`: Your own id of the user: a user exists from its first use.
     * - `name`: What the user is called, at most 200 characters.
     * - `email`: The user’s email address.
     * - `locale`: The user’s language as a tag such as `en` or `pt-BR`.
     * - `timezone`: The user’s IANA time zone such as `Europe/Berlin`, which routines run in.
     * - `metadata`: Your own facts about the user; replaces what was kept.
     * - `spend_cap_usd`: US dollars a day that the user may spend, at most the org’s; null: the org’s cap for users.
     * - `monthly_cap_usd`: US dollars a calendar month that the user may spend, at most the org’s; null: the org’s cap for users.
     * - `default_deployment`: The deployment that answers the user where none is named: a dep_ id, a slug or a name; null clears it.
     * - `status`: `disabled` refuses every call for the user, sessions included; `active` lets them in again.
     *
     * @throws {VestraError} `invalid_language`, `invalid_user_timezone`, `invalid_deployment`, `cap_above_maximum`
     */
    update: Call<Api['users']['update']>;
    /**
     * Erase a user with computer, files and memory; `user.deleted` says when it is done.
     *
     * Answers 202 and goes on in the background. What the user spent stays in usage totals, under the user `unknown`.
     *
     * `DELETE /v1/users/{user_id}`, scope runtime; `vestra users delete`
     *
     * - `user_id`: Your own id of the user: a user exists from its first use.
     */
    delete: Call<Api['users']['delete']>;
    /**
     * Wake a user’s computer before it is needed.
     *
     * A call within a minute of another rides on it. At most 10 computers of an org wake at once (429 `warm_limit`).
     *
     * `POST /v1/users/{user_id}/warm`, scope runtime; `vestra users warm`
     *
     * - `user_id`: Your own id of the user: a user exists from its first use.
     * - `keep_ms`: Keeps the computer awake that long.
     *
     * @throws {VestraError} `user_disabled`, `warm_limit`, `computer_unavailable`
     */
    warm: Call<Api['users']['warm']>;
    /**
     * Take a picture of the user’s screen as a JPEG.
     *
     * Wakes the computer where it sleeps. Refused with `browser_in_use` while the screen is private.
     *
     * `GET /v1/users/{user_id}/screenshot`, scope runtime; `vestra users screenshot`
     *
     * - `user_id`: Your own id of the user: a user exists from its first use.
     *
     * @throws {VestraError} `user_not_found`, `user_disabled`, `browser_in_use`, `computer_unavailable`
     */
    screenshot: Call<Api['users']['screenshot']>;
  };
  browser: {
    /**
     * Open one page in the user’s browser and answer what its own data calls brought.
     *
     * No model runs. Only sites of the deployment’s `browser.allowed_domains`. Wakes a sleeping computer; at most four run at once in one browser (409 `browser_busy`), and none while a person drives (409 `browser_in_use`).
     *
     * `POST /v1/users/{user_id}/browser/fetch`, scope runtime; `vestra browser fetch`
     *
     * - `user_id`: Your own id of the user: a user exists from its first use.
     * - `deployment`: Whose allowed sites count: a dep_ id, a slug or a name; absent: the user’s default, then the org’s.
     * - `url`: Left out to go on in a kept tab.
     * - `capture`: Which of the page’s own data calls to answer, at most 20.
     * - `steps`: What to do on the page once it is open, in order, at most 50.
     * - `timeout_ms`: How long the whole fetch may take; then 504 `timeout` with what came in `partial`.
     * - `keep_open_ms`: Keeps the tab for the next fetch.
     * - `tab`: A kept tab, as an answer named it.
     * - `tag`: Names the tab in the watch.
     * - `stage`: A label shown in the watch.
     * - `front`: Opens in front of the person, for a sign-in they finish.
     * - `front_device`: `desktop`: the site’s desktop page at the shape of a phone.
     * - `front_crop`: The one element that the screen of a hand-off shows.
     * - `private`: Never shown in the watch.
     * - `challenge`: `turnstile`: waits for the page’s bot check to pass by itself or by the person; it is never solved.
     * - `frames`: Small pictures at milestones.
     *
     * @throws {VestraError} `user_disabled`, `invalid_deployment`, `deployment_required`, `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `domain_not_allowed`, `page_blocked`, `browser_in_use`, `browser_busy`, `no_open_tab`, `computer_unavailable`, `timeout`
     */
    fetch: Call<Api['browser']['fetch']>;
    /**
     * Say which of the named cookies the browser holds for a site and until when, never a value.
     *
     * To see whether a sign-in still holds before using it. Opens no page and wakes the computer.
     *
     * `GET /v1/users/{user_id}/browser/cookies`, scope runtime; `vestra browser cookies`
     *
     * - `user_id`: Your own id of the user: a user exists from its first use.
     * - `domain`: The site, a bare host name among the deployment’s allowed ones.
     * - `names`: Names of cookies, separated by commas.
     * - `deployment`: Whose allowed sites count; absent: the user’s default, then the org’s.
     *
     * @throws {VestraError} `user_not_found`, `user_disabled`, `invalid_deployment`, `deployment_required`, `deployment_not_live`, `deployment_archived`, `domain_not_allowed`, `computer_unavailable`
     */
    cookies: Call<Api['browser']['cookies']>;
    /**
     * Watch the fetch tabs of a user’s browser; never wakes the computer.
     *
     * An event stream for showing what fetches do. Only allowed sites; tabs that are private or on a blocked path are hidden.
     *
     * `GET /v1/users/{user_id}/browser/watch`, scope runtime; `vestra browser watch`
     *
     * - `user_id`: Your own id of the user: a user exists from its first use.
     * - `deployment`: Whose allowed sites count; absent: the user’s default, then the org’s.
     *
     * @throws {VestraError} `user_not_found`, `user_disabled`, `invalid_deployment`, `deployment_required`, `deployment_not_live`, `deployment_archived`
     */
    watch: Call<Api['browser']['watch']>;
  };
  memory: {
    /**
     * Show what the agent remembers about a user, newest first, and the user’s profile.
     *
     * A session token with `memory` lists its own user’s. Where the org keeps memory itself, its endpoint is asked.
     *
     * `GET /v1/memory`, scope runtime; `vestra memory list`
     *
     * - `user_id`: Whose memory; absent: that of the org’s own agent.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     *
     * @throws {VestraError} `user_required`, `user_disabled`, `memory_endpoint_required`, `memory_endpoint_error`
     */
    list: Call<Api['memory']['list']>;
    /**
     * Tell the agent a fact about a user.
     *
     * The agent knows it from the next message on. Refused where the deployment or org keeps no memory.
     *
     * `POST /v1/memory`, scope runtime; `vestra memory add`
     *
     * - `user_id`: Whose memory; absent: that of the org’s own agent.
     * - `text`: The fact in a sentence, 1 to 1,000 characters.
     * - `kind`: What kind of fact it is.
     *
     * @throws {VestraError} `invalid_memory`, `user_required`, `user_disabled`, `memory_endpoint_required`, `memory_endpoint_error`
     */
    create: Call<Api['memory']['create']>;
    /**
     * Search a user’s memory by meaning and words.
     *
     * Finds what means the same in other words too.
     *
     * `GET /v1/memory/search`, scope runtime; `vestra memory search`
     *
     * - `user_id`: Whose memory; absent: that of the org’s own agent.
     * - `q`: What to look for, 1 to 500 characters.
     *
     * @throws {VestraError} `query_required`, `user_required`, `user_disabled`, `memory_endpoint_required`, `memory_endpoint_error`
     */
    search: Call<Api['memory']['search']>;
    /**
     * Forget one fact.
     *
     * A session token with `memory` may delete its own user’s. The agent may learn the fact anew from what it is told.
     *
     * `DELETE /v1/memory/{memory_id}`, scope runtime; `vestra memory delete`
     *
     * - `memory_id`: The id of a remembered fact, `mem_` and 24 characters.
     * - `user_id`: Whose memory; absent: that of the org’s own agent.
     *
     * @throws {VestraError} `user_required`, `user_disabled`, `memory_endpoint_required`, `memory_endpoint_error`
     */
    delete: Call<Api['memory']['delete']>;
    /**
     * Forget everything about a user.
     *
     * The profile goes too. A session token with `memory` may do it for its own user.
     *
     * `DELETE /v1/memory`, scope runtime; `vestra memory clear`
     *
     * - `user_id`: Whose memory; absent: that of the org’s own agent.
     *
     * @throws {VestraError} `user_required`, `user_disabled`, `memory_endpoint_required`, `memory_endpoint_error`
     */
    deleteAll: Call<Api['memory']['deleteAll']>;
  };
  files: {
    /**
     * List files: the outputs of a task or conversation, else uploads.
     *
     * Needs scope `runtime`; newest first. What a tool answered with is in no list: the trace shows it.
     *
     * `GET /v1/files`, scope runtime; `vestra files`
     *
     * - `user_id`: Only this user’s; absent: everybody’s.
     * - `task_id`: Only outputs of this piece of work.
     * - `conversation_id`: Only outputs of this conversation.
     * - `source`: Uploads or outputs; absent: outputs where a task or conversation is named, else uploads.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     *
     * @throws {VestraError} `invalid_task_id`, `invalid_conversation_id`
     */
    list: Call<Api['files']['list']>;
    /**
     * Upload a file of at most 10 MB.
     *
     * multipart/form-data with one part `file`. Name its id in `attachments` of a message of the same user. A session token with `chat` uploads for its own user.
     *
     * `POST /v1/files`, scope runtime; `vestra files upload`
     *
     * - `user_id`: Whose file it will be; absent: the org’s own agent, unless the org requires a user.
     *
     * @throws {VestraError} `file_required`, `multipart_required`, `invalid_filename`, `file_too_large`, `user_required`, `user_disabled`
     */
    create: Call<Api['files']['create']>;
    /**
     * Show a file with a download link that works for 15 minutes.
     *
     * Read it again for a fresh link once the old one is over. A session token sees files of its own conversation and user.
     *
     * `GET /v1/files/{file_id}`, scope runtime; `vestra files get`
     *
     * - `file_id`: The id of a file, `file_` and 24 characters.
     */
    get: Call<Api['files']['get']>;
    /**
     * Delete a file.
     *
     * The bytes go too. Messages that named it keep its id.
     *
     * `DELETE /v1/files/{file_id}`, scope runtime; `vestra files delete`
     *
     * - `file_id`: The id of a file, `file_` and 24 characters.
     */
    delete: Call<Api['files']['delete']>;
  };
  sessions: {
    /**
     * Open a page for one user to chat, watch or drive the screen, or talk; its token is shown once.
     *
     * Call it from your server and open `url` in the user’s browser, or embed it: `allowed_embed_origins` of the org says where. At least one of chat, screen, voice and memory should be on; the token opens nothing else.
     *
     * `POST /v1/sessions`, scope runtime; `vestra sessions create`
     *
     * - `user_id`: Whom the page is for; absent: the org’s own agent, unless the org requires a user.
     * - `conversation_id`: A conversation of that user to go on with; absent with chat or voice: a new one.
     * - `deployment`: Which agent answers a new conversation; absent: the user’s default deployment, then the org’s.
     * - `reuse`: Go on in the conversation of the user’s last session with the deployment, where there is one.
     * - `chat`: True: the page has a chat.
     * - `screen`: `view` shows the agent’s screen, `control` also lets the person use it; false: no screen.
     * - `voice`: True, or the name of a voice.
     * - `memory`: True: the page lists what is remembered; the org’s `memory_panel` must be on.
     * - `driver`: `user` opens the screen in the user’s hands from the first frame; absent: `bash`.
     *
     * @throws {VestraError} `user_required`, `user_disabled`, `invalid_conversation_id`, `conversation_not_found`, `conversation_user_mismatch`, `deployment_required`, `invalid_deployment`, `deployment_not_live`, `deployment_archived`
     */
    create: Call<Api['sessions']['create']>;
    /**
     * Show a session.
     *
     * By a key, or by the session’s own token.
     *
     * `GET /v1/sessions/{session_id}`, scope runtime; `vestra sessions get`
     *
     * - `session_id`: The id of a session, `ses_` and 24 characters.
     */
    get: Call<Api['sessions']['get']>;
    /**
     * End a session at once: its token stops working, streams close, a call hangs up.
     *
     * By a key, or by the session’s own token. The embedding page is told.
     *
     * `DELETE /v1/sessions/{session_id}`, scope runtime; `vestra sessions delete`
     *
     * - `session_id`: The id of a session, `ses_` and 24 characters.
     */
    delete: Call<Api['sessions']['delete']>;
    /**
     * Say which origins may embed the page of a session.
     *
     * Open to everybody: the page itself asks for it before it lets itself be framed.
     *
     * `GET /v1/sessions/{session_id}/frame-policy`, open
     *
     * - `session_id`: The id of a session, `ses_` and 24 characters.
     */
    framePolicy: Call<Api['sessions']['framePolicy']>;
    /**
     * Answer the address of the screen’s stream, good for 5 minutes.
     *
     * The session’s own token alone, with `screen`. Ask again while it answers `browser_not_open`: the computer is waking.
     *
     * `GET /v1/sessions/{session_id}/screen`, session
     *
     * - `session_id`: The id of a session, `ses_` and 24 characters.
     *
     * @throws {VestraError} `user_disabled`, `payment_in_progress`, `browser_in_use`, `browser_not_open`, `computer_unavailable`
     */
    screen: Call<Api['sessions']['screen']>;
    /**
     * Pass what the person does with mouse and keyboard on to the page that the screen shows.
     *
     * The session’s own token alone, with `screen: control`. The first input takes the browser out of the agent’s hands, `hand_back` returns it.
     *
     * `POST /v1/sessions/{session_id}/screen/input`, session
     *
     * - `session_id`: The id of a session, `ses_` and 24 characters.
     * - `inputs`: What the person did, in order; 1 to 64 at once.
     *
     * @throws {VestraError} `user_disabled`, `payment_in_progress`, `browser_in_use`, `browser_not_open`, `no_open_tab`, `computer_unavailable`
     */
    screenInput: Call<Api['sessions']['screenInput']>;
    /**
     * Begin a voice call with the browser’s WebRTC offer.
     *
     * The session’s own token alone, with `voice`. Deleting the session hangs up. Billed by the second and by what is said.
     *
     * `POST /v1/sessions/{session_id}/voice`, session
     *
     * - `session_id`: The id of a session, `ses_` and 24 characters.
     * - `sdp`: The browser’s WebRTC offer.
     *
     * @throws {VestraError} `conversation_required`, `sdp_required`, `user_disabled`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`
     */
    voice: Call<Api['sessions']['voice']>;
  };
  webhooks: {
    /**
     * List webhook endpoints, newest first.
     *
     * Needs scope `setup`. Only those of the key’s mode.
     *
     * `GET /v1/webhooks`, scope setup; `vestra webhooks list`
     *
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    list: Call<Api['webhooks']['list']>;
    /**
     * Register an https address for events; its signing secret is shown once.
     *
     * It hears what happens in the key’s mode from now on. Deliveries follow Standard Webhooks: answer 2xx within 15 seconds, else they are tried again for three days.
     *
     * `POST /v1/webhooks`, scope setup; `vestra webhooks create`
     *
     * - `url`: A public https address; private, local and internal ones are refused.
     * - `events`: 1 to 40 event types, or `*` for all, later ones included.
     * - `description`: Your own note on what it is for.
     * - `active`: False: it is kept and hears nothing yet.
     */
    create: Call<Api['webhooks']['create']>;
    /**
     * Show a webhook endpoint.
     *
     * The signing secret is not shown again; roll it where it is lost.
     *
     * `GET /v1/webhooks/{endpoint_id}`, scope setup; `vestra webhooks get`
     *
     * - `endpoint_id`: The id of a webhook endpoint, `whk_` and 24 characters.
     */
    get: Call<Api['webhooks']['get']>;
    /**
     * Change the address, events, description or state of an endpoint.
     *
     * Fields left out stay. What a deployment file declares is changed there (409 `managed_by_file`).
     *
     * `PATCH /v1/webhooks/{endpoint_id}`, scope setup; `vestra webhooks update`
     *
     * - `endpoint_id`: The id of a webhook endpoint, `whk_` and 24 characters.
     * - `url`: The new address; the secret stays.
     * - `events`: The types from now on; replaces the list.
     * - `description`: Your own note; null clears it.
     * - `active`: False pauses it; true starts it again, also after it was switched off for failing.
     *
     * @throws {VestraError} `managed_by_file`
     */
    update: Call<Api['webhooks']['update']>;
    /**
     * Delete a webhook endpoint.
     *
     * Deliveries that are still due are dropped.
     *
     * `DELETE /v1/webhooks/{endpoint_id}`, scope setup; `vestra webhooks delete`
     *
     * - `endpoint_id`: The id of a webhook endpoint, `whk_` and 24 characters.
     *
     * @throws {VestraError} `managed_by_file`
     */
    delete: Call<Api['webhooks']['delete']>;
    /**
     * Give an endpoint a new signing secret; the old one is accepted for 24 hours.
     *
     * For 24 hours deliveries carry a signature by each secret, so that you can switch without a gap.
     *
     * `POST /v1/webhooks/{endpoint_id}/roll-secret`, scope setup; `vestra webhooks roll-secret`
     *
     * - `endpoint_id`: The id of a webhook endpoint, `whk_` and 24 characters.
     */
    rollSecret: Call<Api['webhooks']['rollSecret']>;
    /**
     * Send a sample event to an endpoint now.
     *
     * Posts `webhook.test` and answers with the attempt: its status code, time and error.
     *
     * `POST /v1/webhooks/{endpoint_id}/test`, scope setup; `vestra webhooks test`
     *
     * - `endpoint_id`: The id of a webhook endpoint, `whk_` and 24 characters.
     */
    test: Call<Api['webhooks']['test']>;
    /**
     * List every attempt to reach an endpoint with its status code and timing.
     *
     * Newest first; kept for 30 days unless the operator says otherwise.
     *
     * `GET /v1/webhooks/{endpoint_id}/deliveries`, scope setup; `vestra webhooks deliveries`
     *
     * - `endpoint_id`: The id of a webhook endpoint, `whk_` and 24 characters.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    deliveries: Call<Api['webhooks']['deliveries']>;
    /**
     * Send one delivery again.
     *
     * Posts the same event with the same `webhook-id`, so that a receiver that saw it can tell.
     *
     * `POST /v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/retry`, scope setup; `vestra webhooks retry`
     *
     * - `endpoint_id`: The id of a webhook endpoint, `whk_` and 24 characters.
     * - `delivery_id`: The id of a delivery to a webhook endpoint, `whd_` and 24 characters.
     *
     * @throws {VestraError} `event_not_found`
     */
    retry: Call<Api['webhooks']['retry']>;
  };
  events: {
    /**
     * List the org’s events of the webhook types, newest first.
     *
     * Needs scope `runtime`. Every event of a webhook type is here, whether or not an endpoint asked for it, in the shape that endpoints get; kept for 30 days unless the operator says otherwise.
     *
     * `GET /v1/events`, scope runtime; `vestra events list`
     *
     * - `type`: Only events of this type.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    list: Call<Api['events']['list']>;
    /**
     * Show one event.
     *
     * The same body that a webhook endpoint was sent, to check or handle it again.
     *
     * `GET /v1/events/{event_id}`, scope runtime; `vestra events get`
     *
     * - `event_id`: The id of an event, `evt_` and 24 characters.
     */
    get: Call<Api['events']['get']>;
  };
  apps: {
    /**
     * List the apps that users may connect, and what each needs for that.
     *
     * Needs scope `runtime`. Users connect them with `POST /v1/connections`; `apps` of a deployment says which may be used.
     *
     * `GET /v1/apps`, scope runtime; `vestra apps list`
     *
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    list: Call<Api['apps']['list']>;
    /**
     * Show the OAuth client that the org gave for an app, without its secret.
     *
     * Needs scope `admin`. Kept per mode: a test key sees the test one.
     *
     * `GET /v1/apps/{app}/client`, scope admin; `vestra app-clients get`
     *
     * - `app`: The id of the app.
     *
     * @throws {VestraError} `invalid_request`, `app_not_found`, `app_client_not_found`
     */
    getClient: Call<Api['apps']['getClient']>;
    /**
     * Give the OAuth client that the org registered with an app; its users sign in with it from then on.
     *
     * Needs scope `admin`. Register it with the app first, with the `redirect_uri` that the app’s entry shows. Kept per mode; a second call replaces the first.
     *
     * `PUT /v1/apps/{app}/client`, scope admin; `vestra app-clients set`
     *
     * - `app`: The id of the app.
     * - `client_id`: What the app calls the client.
     * - `client_secret`: Its secret, where it has one; it is sealed and never shown again.
     * - `auth_method`: How the secret is sent; left out: as the app says that it wants it.
     *
     * @throws {VestraError} `app_not_found`, `app_not_connectable`, `oauth_not_available`, `mcp_server_error`
     */
    putClient: Call<Api['apps']['putClient']>;
    /**
     * Forget the OAuth client that the org gave for an app; sign-ins made with it last as long as their token.
     *
     * Needs scope `admin`. From then on the operator’s client counts, or what this server makes itself known by.
     *
     * `DELETE /v1/apps/{app}/client`, scope admin; `vestra app-clients delete`
     *
     * - `app`: The id of the app.
     *
     * @throws {VestraError} `app_not_found`, `app_client_not_found`
     */
    deleteClient: Call<Api['apps']['deleteClient']>;
  };
  connections: {
    /**
     * List connected apps, newest first.
     *
     * Needs scope `runtime`. Tokens are never shown.
     *
     * `GET /v1/connections`, scope runtime; `vestra connections list`
     *
     * - `user_id`: Only this user’s; absent: everybody’s.
     * - `app`: Only connections to this app.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    list: Call<Api['connections']['list']>;
    /**
     * Begin to connect an app: the user signs in at `connect_url`, or gives an `api_key`, which connects at once.
     *
     * Send the user’s browser to `connect_url`. An interaction that waits for the app settles itself once they have signed in. A session begins one for its user while its conversation waits for that app.
     *
     * `POST /v1/connections`, scope runtime; `vestra connections create`
     *
     * - `user_id`: Who signs in; absent: for the org’s own agent, unless the org requires a user.
     * - `app`: The id of the app, as `GET /v1/apps` lists it.
     * - `return_url`: Where the browser goes afterwards; one of the org’s `allowed_return_urls`.
     * - `api_key`: A key of the user’s, for an app that takes one: it is tried, sealed, and connects at once.
     *
     * @throws {VestraError} `user_required`, `user_disabled`, `app_not_found`, `app_not_connectable`, `api_key_refused`, `oauth_not_available`, `return_url_not_allowed`, `mcp_server_error`
     */
    create: Call<Api['connections']['create']>;
    /**
     * Where an app sends the user’s browser back to after the sign-in.
     *
     * Called by browsers, not by you: part of OAuth 2.1 with PKCE. Each `state` counts once.
     *
     * `GET /v1/connections/callback`, open
     *
     * - `state`: Ties the sign-in to the connection.
     * - `code`: What the app gives for a token.
     * - `error`: Why the app or the user refused.
     * - `iss`: Which authorization server answers.
     */
    callback: Call<Api['connections']['callback']>;
    /**
     * Disconnect an app and forget its sign-in.
     *
     * The agent can no longer use the app for this user; the app’s own list of grants may still show it.
     *
     * `DELETE /v1/connections/{connection_id}`, scope runtime; `vestra connections delete`
     *
     * - `connection_id`: The id of a connection to an app, `con_` and 24 characters.
     */
    delete: Call<Api['connections']['delete']>;
  };
  protocols: {
    /**
     * Speak MCP over streamable HTTP: the CLI’s commands as tools.
     *
     * Takes a key, or the access token of a client that a member has let in. `tools/list` shows what the scopes allow. Keys and secrets are never handled through it. Faults of the protocol come as JSON-RPC errors.
     *
     * `POST /v1/mcp`, scope runtime
     *
     * - `jsonrpc`: Always `2.0`: the version of JSON-RPC.
     * - `id`: Names the request; its answer says it again.
     * - `method`: What is asked for; absent in an answer.
     * - `params`: What it is asked with, as the method takes it.
     * - `result`: What came of it; in an answer that succeeded.
     * - `error`: What went wrong; in an answer that failed.
     *
     * @throws {VestraError} `origin_not_allowed`
     */
    mcp: Call<Api['protocols']['mcp']>;
    /**
     * Speak A2A with a deployment: an exchange is a conversation, an A2A task its work.
     *
     * `SendMessage`, `SendStreamingMessage`, `GetTask`, `ListTasks`, `CancelTask` and `SubscribeToTask` of A2A 1.0. `contextId` is the conversation. No push notifications: use webhooks.
     *
     * `POST /v1/a2a/{deployment_id}`, scope runtime
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `jsonrpc`: Always `2.0`: the version of JSON-RPC.
     * - `id`: Names the request; its answer says it again.
     * - `method`: What is asked for; absent in an answer.
     * - `params`: What it is asked with, as the method takes it.
     * - `result`: What came of it; in an answer that succeeded.
     * - `error`: What went wrong; in an answer that failed.
     *
     * @throws {VestraError} `deployment_not_found`, `deployment_not_live`, `deployment_archived`, `user_disabled`, `user_required`
     */
    a2a: Call<Api['protocols']['a2a']>;
    /**
     * Show the agent card of a deployment.
     *
     * Open to everybody. Shows the live version.
     *
     * `GET /v1/a2a/{deployment_id}/.well-known/agent-card.json`, open
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     *
     * @throws {VestraError} `deployment_not_found`, `deployment_not_live`
     */
    agentCard: Call<Api['protocols']['agentCard']>;
  };
  oauth: {
    /**
     * Get an access token for /v1/mcp, by a code or by a refresh token.
     *
     * The code needs its PKCE verifier. Each refresh token is used once: the answer holds the next one. Errors are worded as RFC 6749 has them.
     *
     * `POST /v1/oauth/token`, open
     *
     * - `grant_type`: `authorization_code` or `refresh_token`.
     * - `client_id`: The client: the address of its metadata document, or the id that it registered.
     * - `code`: The code that the browser brought back.
     * - `redirect_uri`: The redirect address that the code was sent to.
     * - `code_verifier`: The PKCE verifier whose S256 challenge was sent.
     * - `refresh_token`: The refresh token of the last answer.
     * - `resource`: The address of /v1/mcp; no other is served.
     *
     * @throws {VestraError} `invalid_grant`, `invalid_target`, `unsupported_grant_type`, `rate_limited`
     */
    token: Call<Api['oauth']['token']>;
    /**
     * Register an MCP client.
     *
     * For clients that have no metadata document. Every client is public: it gets no secret. One that is not used is forgotten.
     *
     * `POST /v1/oauth/register`, open
     *
     * - `redirect_uris`: Where browsers may bring the answer: https, http on this very computer with any port, or a link of an app.
     * - `client_name`: What people read on the page that asks them.
     * - `grant_types`: Taken as `authorization_code` and `refresh_token`, whatever it says.
     * - `response_types`: Taken as `code`, whatever it says.
     * - `token_endpoint_auth_method`: Taken as `none`, whatever it says.
     *
     * @throws {VestraError} `invalid_redirect_uri`, `rate_limited`
     */
    register: Call<Api['oauth']['register']>;
    /**
     * Give access back: an access or a refresh token ends with all others of its grant.
     *
     * Answers the same for a token that is not known, as RFC 7009 has it.
     *
     * `POST /v1/oauth/revoke`, open
     *
     * - `token`: The access or refresh token.
     * - `client_id`: The client; where it is given, only its own token is ended.
     *
     * @throws {VestraError} `rate_limited`
     */
    revoke: Call<Api['oauth']['revoke']>;
  };
  openai: {
    /**
     * Talk to a deployment as clients of OpenAI’s chat completions do.
     *
     * Point an OpenAI client at `/v1/openai` with an API key of ours. A call that repeats what was said goes on in its conversation. What cannot be done is refused in OpenAI’s error shape and named.
     *
     * `POST /v1/openai/chat/completions`, scope runtime
     *
     * - `model`: A deployment: its slug, its dep_ id or its name, with `@version`.
     * - `messages`: The conversation so far; one that continues an earlier call goes on in the same conversation.
     * - `user`: The user whom the agent works for.
     * - `safety_identifier`: Another name for `user`: whom the agent works for.
     * - `tools`: Functions of yours that the agent may call, besides those of the deployment.
     * - `tool_choice`: `auto`: the agent decides; `none`: it calls none of `tools`.
     * - `response_format`: The form of the answer: text, any JSON, or JSON that fits a schema.
     * - `stream`: True: the answer comes as chunks while it is written.
     * - `stream_options`: What a stream tells besides.
     * - `store`: Taken as OpenAI’s clients send it; the conversation is kept either way.
     * - `n`: Only 1: one answer is given.
     * - `logprobs`: Only false: probabilities of words are not given.
     * - `modalities`: Only text is answered.
     * - `temperature`: Taken, and without effect.
     * - `top_p`: Taken, and without effect.
     * - `frequency_penalty`: Taken, and without effect.
     * - `presence_penalty`: Taken, and without effect.
     * - `seed`: Taken, and without effect.
     * - `logit_bias`: Taken, and without effect.
     * - `stop`: Taken, and without effect.
     * - `verbosity`: Taken, and without effect.
     * - `max_tokens`: Taken, and without effect.
     * - `max_completion_tokens`: Taken, and without effect.
     * - `max_output_tokens`: Taken, and without effect.
     * - `max_tool_calls`: Taken, and without effect.
     * - `parallel_tool_calls`: Taken, and without effect.
     * - `reasoning`: Taken, and without effect.
     * - `reasoning_effort`: Taken, and without effect.
     * - `service_tier`: Taken, and without effect.
     * - `prediction`: Taken, and without effect.
     * - `truncation`: Taken, and without effect.
     * - `include`: Taken, and without effect.
     * - `context_management`: Taken, and without effect.
     * - `prompt_cache_key`: Taken, and without effect.
     * - `prompt_cache_options`: Taken, and without effect.
     * - `prompt_cache_retention`: Taken, and without effect.
     *
     * @throws {VestraError} `invalid_deployment`, `deployment_not_live`, `deployment_archived`, `user_required`, `user_disabled`, `conversation_not_found`, `conversation_user_mismatch`, `interaction_not_found`, `already_answered`, `interaction_expired`, `present_user_required`, `output_schema_invalid`, `output_schema_too_large`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`, `model_error`, `unsupported_media_type`, `file_not_found`, `file_too_large`
     */
    chat: Call<Api['openai']['chat']>;
    /**
     * Talk to a deployment as clients of OpenAI’s responses do.
     *
     * Goes on by `previous_response_id` or `conversation`. Calls of your functions and approvals come as output items; send their results as input.
     *
     * `POST /v1/openai/responses`, scope runtime
     *
     * - `model`: The deployment; may be left out where the conversation is named.
     * - `input`: What the person says: a text, or a list of items.
     * - `instructions`: Read as facts beside the instructions of the deployment.
     * - `user`: The user whom the agent works for.
     * - `safety_identifier`: Another name for `user`: whom the agent works for.
     * - `previous_response_id`: The response that this one goes on from, `resp_…`.
     * - `conversation`: The conversation that this one goes on in.
     * - `tools`: Functions of yours that the agent may call, besides those of the deployment.
     * - `tool_choice`: `auto`: the agent decides; `none`: it calls none of `tools`.
     * - `text`: The form of the answer.
     * - `stream`: True: the answer comes as events while it is written.
     * - `stream_options`: Taken, and without effect.
     * - `background`: True: answers at once with `in_progress`; read the response for the rest.
     * - `store`: False: the response cannot be asked for again.
     * - `prompt`: Only null: the deployment holds the instructions.
     * - `top_logprobs`: Only 0: probabilities of words are not given.
     * - `temperature`: Taken, and without effect.
     * - `top_p`: Taken, and without effect.
     * - `frequency_penalty`: Taken, and without effect.
     * - `presence_penalty`: Taken, and without effect.
     * - `seed`: Taken, and without effect.
     * - `logit_bias`: Taken, and without effect.
     * - `stop`: Taken, and without effect.
     * - `verbosity`: Taken, and without effect.
     * - `max_tokens`: Taken, and without effect.
     * - `max_completion_tokens`: Taken, and without effect.
     * - `max_output_tokens`: Taken, and without effect.
     * - `max_tool_calls`: Taken, and without effect.
     * - `parallel_tool_calls`: Taken, and without effect.
     * - `reasoning`: Taken, and without effect.
     * - `reasoning_effort`: Taken, and without effect.
     * - `service_tier`: Taken, and without effect.
     * - `prediction`: Taken, and without effect.
     * - `truncation`: Taken, and without effect.
     * - `include`: Taken, and without effect.
     * - `context_management`: Taken, and without effect.
     * - `prompt_cache_key`: Taken, and without effect.
     * - `prompt_cache_options`: Taken, and without effect.
     * - `prompt_cache_retention`: Taken, and without effect.
     *
     * @throws {VestraError} `invalid_deployment`, `deployment_not_live`, `deployment_archived`, `user_required`, `user_disabled`, `conversation_not_found`, `conversation_user_mismatch`, `interaction_not_found`, `already_answered`, `interaction_expired`, `present_user_required`, `output_schema_invalid`, `output_schema_too_large`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`, `model_error`, `unsupported_media_type`, `file_not_found`, `file_too_large`
     */
    respond: Call<Api['openai']['respond']>;
    /**
     * Show a response as far as it has come, or follow it.
     *
     * For responses made with `background`, or to read one again.
     *
     * `GET /v1/openai/responses/{response_id}`, scope runtime
     *
     * - `response_id`: The id of a response, `resp_…`.
     * - `stream`: `true` answers its events as a stream.
     * - `starting_after`: The `sequence_number` of the last event seen: the stream goes on after it.
     *
     * @throws {VestraError} `response_not_found`
     */
    response: Call<Api['openai']['response']>;
    /**
     * Stop a response, with the work it began.
     *
     * One that has ended stays as it is.
     *
     * `POST /v1/openai/responses/{response_id}/cancel`, scope runtime
     *
     * - `response_id`: The id of a response, `resp_…`.
     *
     * @throws {VestraError} `response_not_found`
     */
    cancel: Call<Api['openai']['cancel']>;
    /**
     * Start a conversation that responses go on with; `metadata.model` and `metadata.user` say whose.
     *
     * Name it as `conversation` of a response; without `metadata.model` the org’s default deployment answers.
     *
     * `POST /v1/openai/conversations`, scope runtime
     *
     * - `items`: Only empty: send what is said with a response.
     *
     * @throws {VestraError} `invalid_deployment`, `deployment_required`, `user_required`, `user_disabled`
     */
    createConversation: Call<Api['openai']['createConversation']>;
    /**
     * Show a conversation as clients of OpenAI’s API read it.
     *
     * The same conversation as `GET /v1/conversations/{conversation_id}`.
     *
     * `GET /v1/openai/conversations/{conversation_id}`, scope runtime
     *
     * - `conversation_id`: The id of a conversation, `conv_` and 24 characters.
     *
     * @throws {VestraError} `conversation_not_found`
     */
    conversation: Call<Api['openai']['conversation']>;
    /**
     * List the deployments that can be named as a model: those that are live, with a test key all.
     *
     * What an OpenAI client offers to choose from.
     *
     * `GET /v1/openai/models`, scope runtime
     */
    models: Call<Api['openai']['models']>;
    /**
     * Show one deployment as a model.
     *
     * 404 where a live key names a deployment that is not live.
     *
     * `GET /v1/openai/models/{model}`, scope runtime
     *
     * - `model`: The slug, id or name of a deployment.
     *
     * @throws {VestraError} `deployment_not_found`
     */
    model: Call<Api['openai']['model']>;
  };
  agUi: {
    /**
     * Run a deployment as clients of AG-UI do: a thread is a conversation, a run a turn or a part of one.
     *
     * Always answers an event stream, one AG-UI event to a line of data. A run that stops for an approval, a question or a tool ends with an interrupt; send the answer as `resume` in the next run of the thread.
     *
     * `POST /v1/agui/{deployment_id}`, scope runtime
     *
     * - `deployment_id`: The deployment’s `dep_` id, its slug or its name.
     * - `threadId`: Your name for the conversation: the same one goes on in the same conversation.
     * - `runId`: Your name for this run; sent twice at once it runs once.
     * - `state`: The client’s state; given back as it came.
     * - `messages`: The thread so far as the client has it; only what is new is taken.
     * - `tools`: Tools that the client carries out itself.
     * - `context`: Data for this run; read as data, never as instructions.
     * - `resume`: Answers to what the run before stopped for.
     *
     * @throws {VestraError} `deployment_not_found`, `deployment_not_live`, `deployment_archived`, `invalid_deployment`, `user_required`, `user_disabled`, `conversation_not_found`, `conversation_user_mismatch`, `interaction_not_found`, `already_answered`, `interaction_expired`, `present_user_required`, `answer_mismatch`, `answers_mismatch`, `answers_required`, `connect_app_instead`, `not_ready`, `wallet_empty`, `org_cap_reached`, `user_cap_reached`, `model_unavailable`, `file_not_found`, `file_too_large`
     */
    run: Call<Api['agUi']['run']>;
  };
  me: {
    /**
     * Show the org, the mode and the key or member behind this call.
     *
     * Any scope will do. The first call to make with a new key.
     *
     * `GET /v1/me`, scope any; `vestra me`
     */
    get: Call<Api['me']['get']>;
  };
  orgs: {
    /**
     * Show the org with its settings, wallet balance and caps.
     *
     * Needs scope `admin`. Settings are those of the key’s mode; name and members are shared by both.
     *
     * `GET /v1/org`, scope admin; `vestra org get`
     */
    get: Call<Api['orgs']['get']>;
    /**
     * Change settings of the org; a list sent replaces the list kept.
     *
     * Needs scope `admin`. Fields left out stay. Changes count for the key’s mode, so that a test key never changes what live users see.
     *
     * `PATCH /v1/org`, scope admin; `vestra org update`
     *
     * - `name`: What the org is called, 1 to 200 characters.
     * - `allowed_return_urls`: Where users may be sent back to after they connected an app, at most 20; replaces the list.
     * - `allowed_embed_origins`: https origins whose pages may embed sessions, at most 20; replaces the list.
     * - `default_deployment`: The deployment that answers where none is named: a dep_ id, a slug or a name; null clears it.
     * - `require_user`: True: calls that name no user are refused with `user_required`.
     * - `memory_panel`: True: sessions may show users what is remembered.
     * - `memory_mode`: Who keeps what is learnt of users; `customer` needs a `memory_endpoint`.
     * - `memory_endpoint`: An https address that keeps memory in place of the service; null clears it.
     * - `otlp_endpoint`: Where to send traces as OpenTelemetry over HTTP; null stops it.
     * - `otlp_headers_secret`: The name of a secret that holds a JSON object of header names to values; null clears it.
     * - `otlp_content`: True: traces hold what was said and what tools were given and answered, without credentials.
     * - `model_fallbacks`: By the slug of a deployment, or `*` for the rest: up to 5 models to go on with where its own is away; replaces all.
     * - `openings`: By the slug of a deployment, or `*` for the rest: what a session’s page says first; replaces all.
     *
     * @throws {VestraError} `invalid_origin`, `invalid_deployment`, `memory_endpoint_required`, `invalid_secret_name`
     */
    update: Call<Api['orgs']['update']>;
    /**
     * Get a new secret for the signatures of calls to the org’s memory endpoint; the old one signs for 24 hours more.
     *
     * Needs scope `admin`. For 24 hours calls carry a signature by each secret.
     *
     * `POST /v1/org/memory-endpoint/roll-secret`, scope admin; `vestra org roll-memory-secret`
     *
     * @throws {VestraError} `memory_endpoint_required`
     */
    rollMemorySecret: Call<Api['orgs']['rollMemorySecret']>;
  };
  keys: {
    /**
     * List the API keys; only the last four characters of each are shown.
     *
     * Needs scope `admin`. Revoked ones are left out.
     *
     * `GET /v1/keys`, scope admin; `vestra keys list`
     *
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    list: Call<Api['keys']['list']>;
    /**
     * Create a test or live key; the full key is shown once.
     *
     * Needs scope `admin`. Only a hash is kept: a lost key is rolled, not found.
     *
     * `POST /v1/keys`, scope admin; `vestra keys create`
     *
     * - `name`: What you call it, 1 to 120 characters.
     * - `scopes`: What it opens; at most what the calling key opens itself.
     * - `mode`: `live` needs a live key, or a member of the console.
     *
     * @throws {VestraError} `scope_missing`, `live_key_required`
     */
    create: Call<Api['keys']['create']>;
    /**
     * Give a key a new secret; the old one works on for `grace_seconds`.
     *
     * The id, name and scopes stay. Afterwards the old secret answers 401 `key_expired`.
     *
     * `POST /v1/keys/{key_id}/roll`, scope admin; `vestra keys roll`
     *
     * - `key_id`: The id of an API key, `key_` and 24 characters.
     * - `grace_seconds`: How long the old secret works on, at most 604,800 (a week).
     *
     * @throws {VestraError} `scope_missing`, `live_key_required`
     */
    roll: Call<Api['keys']['roll']>;
    /**
     * Revoke a key at once.
     *
     * Streams that it opened are closed too. A key may revoke itself.
     *
     * `DELETE /v1/keys/{key_id}`, scope admin; `vestra keys revoke`
     *
     * - `key_id`: The id of an API key, `key_` and 24 characters.
     */
    revoke: Call<Api['keys']['revoke']>;
  };
  mcpGrants: {
    /**
     * List the MCP clients that were let in.
     *
     * With scope `admin` those of the whole org in this mode; a member without it sees their own.
     *
     * `GET /v1/mcp-grants`, scope any; `vestra mcp-grants list`
     *
     * - `member_id`: Only those that this member let in.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    list: Call<Api['mcpGrants']['list']>;
    /**
     * Shut an MCP client out at once.
     *
     * With scope `admin` any of the org in this mode; a member without it ends their own. Its calls that wait are cut.
     *
     * `DELETE /v1/mcp-grants/{grant_id}`, scope any; `vestra mcp-grants revoke`
     *
     * - `grant_id`: The id of an MCP client that was let in, `grant_` and 24 characters.
     *
     * @throws {VestraError} `mcp_grant_not_found`
     */
    revoke: Call<Api['mcpGrants']['revoke']>;
    /**
     * Show what an MCP client asks for.
     *
     * Needs the console’s cookie and `X-CSRF-Token`. Fails where client or redirect address are not known; any other fault is `refusal`.
     *
     * `POST /v1/console/mcp-authorization/show`, console
     *
     * - `query`: What stands behind the `?` of the address that the client opened.
     *
     * @throws {VestraError} `invalid_client`, `invalid_client_metadata`, `invalid_redirect_uri`
     */
    show: Call<Api['mcpGrants']['show']>;
    /**
     * Let an MCP client in, or not.
     *
     * Needs the console’s cookie and `X-CSRF-Token`. `Service-Org` and `Service-Mode` say where it is let in. The browser goes on to `return_url`.
     *
     * `POST /v1/console/mcp-authorization`, console
     *
     * - `query`: What stands behind the `?` of the address that the client opened.
     * - `approve`: True lets the client in, false tells it no.
     *
     * @throws {VestraError} `invalid_client`, `invalid_client_metadata`, `invalid_redirect_uri`, `too_many_mcp_grants`
     */
    decide: Call<Api['mcpGrants']['decide']>;
  };
  limits: {
    /**
     * Show spending caps, alert thresholds and rate limits.
     *
     * Needs scope `admin`. Caps and thresholds are kept for each mode; rate limits are the operator’s.
     *
     * `GET /v1/limits`, scope admin; `vestra limits get`
     */
    get: Call<Api['limits']['get']>;
    /**
     * Set spending caps and alert thresholds within what the service allows.
     *
     * Needs scope `admin`. Counts from the next message on; work that is running is stopped once a cap is reached.
     *
     * `PATCH /v1/limits`, scope admin; `vestra limits update`
     *
     * - `caps`: The caps to change; those left out stay.
     * - `usage_alerts`: When spending is to be told of.
     *
     * @throws {VestraError} `cap_above_maximum`
     */
    update: Call<Api['limits']['update']>;
  };
  usage: {
    /**
     * Report exact billed spend and task counts, grouped by one dimension.
     *
     * Needs scope `admin`. Only money of the key’s mode. Erased users are counted under `unknown`.
     *
     * `GET /v1/usage`, scope admin; `vestra usage`
     *
     * - `group_by`: What a row is about.
     * - `from`: First day of the window, UTC; absent: 30 days ago.
     * - `to`: Last day of the window, UTC, itself included; absent: today. At most 366 days.
     * - `user_id`: Only what was spent for this user; absent: for everybody.
     * - `deployment_id`: Only this deployment: its id, slug or name.
     * - `conversation_id`: Only this conversation.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     *
     * @throws {VestraError} `invalid_window`, `invalid_conversation_id`
     */
    report: Call<Api['usage']['report']>;
    /**
     * List the charges behind one task or conversation, newest first.
     *
     * Needs scope `admin`. The items add up exactly to what the wallet was charged.
     *
     * `GET /v1/usage/line-items`, scope admin; `vestra usage line-items`
     *
     * - `task_id`: Charges of this piece of work; give it or `conversation_id`.
     * - `conversation_id`: Charges of this conversation, its work included; give it or `task_id`.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     *
     * @throws {VestraError} `invalid_request`, `invalid_task_id`, `invalid_conversation_id`, `task_not_found`, `conversation_not_found`
     */
    lineItems: Call<Api['usage']['lineItems']>;
  };
  auditLog: {
    /**
     * List key use, settings changes and approval answers, newest first.
     *
     * Needs scope `admin`. Key use is one entry for each key and minute with a count. Kept for 365 days unless the operator says otherwise.
     *
     * `GET /v1/audit-log`, scope admin; `vestra audit-log`
     *
     * - `action`: Only entries of this action.
     * - `actor_id`: Only what this key, member or session did.
     * - `from`: From this day or moment on, UTC.
     * - `to`: Up to this day or moment, UTC, itself included.
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     *
     * @throws {VestraError} `invalid_window`
     */
    list: Call<Api['auditLog']['list']>;
  };
  models: {
    /**
     * List the models that a deployment may choose.
     *
     * Any scope will do. Also those that are not configured, with `unavailable_reason`.
     *
     * `GET /v1/models`, scope any; `vestra models`
     */
    list: Call<Api['models']['list']>;
  };
  members: {
    /**
     * List the people who may use the console.
     *
     * Needs scope `admin`, or an owner or admin. Both modes share the members.
     *
     * `GET /v1/members`, scope admin; `vestra members list`
     *
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    list: Call<Api['members']['list']>;
    /**
     * Invite a person; the answer carries the link to send them.
     *
     * The service sends no mail: pass the link on yourself. Only an owner invites owners; a key needs live mode.
     *
     * `POST /v1/members`, scope admin; `vestra members invite`
     *
     * - `email`: Whom to invite.
     * - `role`: What the person will be allowed to do.
     *
     * @throws {VestraError} `member_exists`, `role_missing`, `live_key_required`
     */
    invite: Call<Api['members']['invite']>;
    /**
     * Accept an invitation with a name and a password of at least 12 characters.
     *
     * Open to whoever holds the link, once.
     *
     * `POST /v1/members/accept`, open
     *
     * - `token`: What the link carries.
     * - `name`: What the person is called, 1 to 200 characters.
     * - `password`: At least 12 characters. The password of a login that the email already has adds the org to that login; any other creates a separate login for this org.
     *
     * @throws {VestraError} `invite_not_found`, `login_failed`, `rate_limited`
     */
    accept: Call<Api['members']['accept']>;
    /**
     * Change a member’s role or name; the last owner stays one.
     *
     * Only an owner changes owners; a key needs live mode.
     *
     * `PATCH /v1/members/{member_id}`, scope admin; `vestra members update`
     *
     * - `member_id`: The id of a member, `mbr_` and 24 characters.
     * - `role`: What the member may do from now on.
     * - `name`: What the member is called from now on.
     *
     * @throws {VestraError} `last_owner`, `role_missing`, `live_key_required`
     */
    update: Call<Api['members']['update']>;
    /**
     * Remove a member and end their console sessions; the last owner stays.
     *
     * Keys that the member made stay.
     *
     * `DELETE /v1/members/{member_id}`, scope admin; `vestra members remove`
     *
     * - `member_id`: The id of a member, `mbr_` and 24 characters.
     *
     * @throws {VestraError} `last_owner`, `role_missing`, `live_key_required`
     */
    remove: Call<Api['members']['remove']>;
    /**
     * Make a link with which a member who forgot their password chooses a new one; it works once, for a day.
     *
     * The service sends no mail: pass the link on yourself. Refused where the login opens other orgs too.
     *
     * `POST /v1/members/{member_id}/password-reset`, scope admin; `vestra members reset-password`
     *
     * - `member_id`: The id of a member, `mbr_` and 24 characters.
     *
     * @throws {VestraError} `password_not_used`, `member_of_other_orgs`, `role_missing`, `live_key_required`
     */
    resetPassword: Call<Api['members']['resetPassword']>;
  };
  consoleAccess: {
    /**
     * Log in to the console; sets an HttpOnly cookie and answers the CSRF token.
     *
     * At most 10 tries a minute for an address and an email.
     *
     * `POST /v1/console/login`, open
     *
     * - `email`: The email address of a member.
     * - `password`: The member’s password.
     *
     * @throws {VestraError} `login_failed`, `rate_limited`
     */
    login: Call<Api['consoleAccess']['login']>;
    /**
     * Choose a new password with the link that an owner, an admin or the operator made; every browser is logged out.
     *
     * Open to whoever holds the link, once.
     *
     * `POST /v1/console/password-reset`, open
     *
     * - `token`: What stands behind `#token=` in the link.
     * - `password`: The password to come, of at least 12 characters.
     *
     * @throws {VestraError} `reset_not_found`, `rate_limited`
     */
    resetPassword: Call<Api['consoleAccess']['resetPassword']>;
    /**
     * Log out of the console.
     *
     * Needs the console’s cookie and `X-CSRF-Token`; ends this session alone.
     *
     * `POST /v1/console/logout`, console
     */
    logout: Call<Api['consoleAccess']['logout']>;
    /**
     * Show the member, org and mode of this console session.
     *
     * Needs the console’s cookie. Answers a CSRF token for the calls that follow.
     *
     * `GET /v1/console/session`, console
     */
    session: Call<Api['consoleAccess']['session']>;
  };
  consoleAccount: {
    /**
     * Show the person who is logged in, and how they sign in.
     *
     * Needs the console’s cookie, whatever the role.
     *
     * `GET /v1/console/account`, console
     */
    show: Call<Api['consoleAccount']['show']>;
    /**
     * Change one’s own name in this org.
     *
     * Needs the console’s cookie and `X-CSRF-Token`. Other orgs of the same person keep the name they have.
     *
     * `PATCH /v1/console/account`, console
     *
     * - `name`: What other members read.
     */
    update: Call<Api['consoleAccount']['update']>;
    /**
     * Choose a new password; every other browser is logged out.
     *
     * Needs the console’s cookie and `X-CSRF-Token`. It is the password of the login, so it counts for all orgs of the person.
     *
     * `POST /v1/console/account/password`, console
     *
     * - `password`: The password of now.
     * - `new_password`: The password to come, of at least 12 characters.
     *
     * @throws {VestraError} `password_wrong`, `password_not_used`, `rate_limited`
     */
    changePassword: Call<Api['consoleAccount']['changePassword']>;
    /**
     * List the browsers in which one is logged in, newest first.
     *
     * Needs the console’s cookie. `is_current` marks the browser that asks.
     *
     * `GET /v1/console/sessions`, console
     *
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    signIns: Call<Api['consoleAccount']['signIns']>;
    /**
     * Log one of one’s browsers out.
     *
     * Needs the console’s cookie and `X-CSRF-Token`. Ending the current one logs this browser out.
     *
     * `DELETE /v1/console/sessions/{console_session_id}`, console
     *
     * - `console_session_id`: The `id` of a sign-in, from the list.
     */
    endSignIn: Call<Api['consoleAccount']['endSignIn']>;
    /**
     * Log every browser out but this one.
     *
     * Needs the console’s cookie and `X-CSRF-Token`. For a lost or shared computer.
     *
     * `DELETE /v1/console/sessions`, console
     */
    endOtherSignIns: Call<Api['consoleAccount']['endOtherSignIns']>;
  };
  consoleSignIn: {
    /**
     * Send the browser to the org’s own sign-in.
     *
     * For a browser to go to, without a credential: each org has its own such address, which `GET /v1/identity-provider` shows. Within ten minutes the same browser comes back.
     *
     * `GET /v1/console/sign-in/{org_id}`, open
     *
     * - `org_id`: The org to sign in to.
     * - `return_to`: The page of the console to go on with.
     *
     * @throws {VestraError} `rate_limited`
     */
    begin: Call<Api['consoleSignIn']['begin']>;
    /**
     * Where the provider sends the browser back to; sets the console’s cookie.
     *
     * The redirect address to allow at the provider. State, nonce, PKCE and the signature of the ID token are checked; a session that it opens leads to this org alone.
     *
     * `GET /v1/console/sign-in/callback`, open
     *
     * - `state`: What the browser was sent away with.
     * - `code`: What the provider gives for its token.
     * - `error`: Why the provider signed nobody in.
     * - `iss`: Which provider it was.
     *
     * @throws {VestraError} `rate_limited`
     */
    callback: Call<Api['consoleSignIn']['callback']>;
    /**
     * Begin to link one’s account at the org’s own sign-in with oneself as a member.
     *
     * Needs the console’s cookie and `X-CSRF-Token`. For a member who logged in by password: until they have linked the account, a provider that says their email does not become them.
     *
     * `POST /v1/console/sign-in/link`, console
     *
     * @throws {VestraError} `identity_provider_not_found`, `identity_provider_error`, `password_not_used`, `rate_limited`
     */
    link: Call<Api['consoleSignIn']['link']>;
    /**
     * Take the link away; one signs in by password again.
     *
     * Needs the console’s cookie and `X-CSRF-Token`. The sign-ins that the provider opened for this member end.
     *
     * `DELETE /v1/console/sign-in/link`, console
     *
     * @throws {VestraError} `identity_not_linked`, `password_not_used`
     */
    unlink: Call<Api['consoleSignIn']['unlink']>;
  };
  passkeys: {
    /**
     * List one’s passkeys, newest first.
     *
     * Needs the console’s cookie. Passkeys belong to the login and open every org that its password opens.
     *
     * `GET /v1/console/passkeys`, console
     *
     * - `limit`: How many entries a page holds, 1 to 100.
     * - `cursor`: The `next_cursor` of the page before, unchanged; absent: the first page.
     */
    list: Call<Api['passkeys']['list']>;
    /**
     * Begin to register a passkey; the password is asked for.
     *
     * Needs the console’s cookie and `X-CSRF-Token`. Sets a cookie that binds what follows to this browser, for ten minutes and one use.
     *
     * `POST /v1/console/passkeys/registration`, console
     *
     * - `password`: The password of the login.
     *
     * @throws {VestraError} `password_wrong`, `password_not_used`, `passkeys_unavailable`, `too_many_passkeys`, `rate_limited`
     */
    beginRegistration: Call<Api['passkeys']['beginRegistration']>;
    /**
     * Register the passkey that the browser made, within ten minutes and in the same browser.
     *
     * Needs the console’s cookie and `X-CSRF-Token`. The device must have seen its person, by finger, face or PIN.
     *
     * `POST /v1/console/passkeys`, console
     *
     * - `name`: What to call it.
     * - `credential`: What `navigator.credentials` gave, by its `toJSON()`.
     *
     * @throws {VestraError} `passkey_refused`, `passkeys_unavailable`, `password_not_used`, `too_many_passkeys`
     */
    register: Call<Api['passkeys']['register']>;
    /**
     * Rename a passkey.
     *
     * Needs the console’s cookie and `X-CSRF-Token`. The name is for the person alone.
     *
     * `PATCH /v1/console/passkeys/{passkey_id}`, console
     *
     * - `passkey_id`: A passkey of one’s own.
     * - `name`: What to call it.
     */
    update: Call<Api['passkeys']['update']>;
    /**
     * Remove a passkey; it signs nobody in any more.
     *
     * Needs the console’s cookie and `X-CSRF-Token`. Browsers that are logged in stay so.
     *
     * `DELETE /v1/console/passkeys/{passkey_id}`, console
     *
     * - `passkey_id`: A passkey of one’s own.
     */
    remove: Call<Api['passkeys']['remove']>;
    /**
     * Begin to sign in with a passkey, whosever it is.
     *
     * Needs no credential and names nobody: the device offers the keys it has. Sets a cookie that binds the sign-in to this browser.
     *
     * `POST /v1/console/passkeys/sign-in-options`, open
     *
     * @throws {VestraError} `passkeys_unavailable`, `rate_limited`
     */
    beginSignIn: Call<Api['passkeys']['beginSignIn']>;
    /**
     * Sign in with a passkey; sets the console’s cookie and answers the CSRF token.
     *
     * Needs the cookie of `POST /v1/console/passkeys/sign-in-options`. Challenge, origin, signature and the device’s count are checked.
     *
     * `POST /v1/console/passkeys/sign-in`, open
     *
     * - `credential`: What `navigator.credentials` gave, by its `toJSON()`.
     *
     * @throws {VestraError} `login_failed`, `passkeys_unavailable`, `rate_limited`
     */
    signIn: Call<Api['passkeys']['signIn']>;
  };
  identityProvider: {
    /**
     * Show the org’s own sign-in, without its secret; the same in both modes.
     *
     * The client secret is never shown. `sign_in_url` is where members begin, and `redirect_uri` is what to allow at the provider.
     *
     * `GET /v1/identity-provider`, scope admin; `vestra identity-provider get`
     *
     * @throws {VestraError} `identity_provider_not_found`
     */
    get: Call<Api['identityProvider']['get']>;
    /**
     * Let members sign in by the company’s own OpenID Connect provider; it is asked at once.
     *
     * For an owner, or a live key with scope `all`. Another issuer or client forgets every link that members have, and ends what the provider signed in.
     *
     * `PUT /v1/identity-provider`, scope admin; `vestra identity-provider set`
     *
     * - `issuer`: The provider’s issuer, as its discovery document writes it.
     * - `client_id`: What the provider calls this server.
     * - `client_secret`: Kept sealed. Left out, the one of the same issuer and client stays; null: the client has none.
     * - `allowed_domains`: The domains of emails that may sign in; no other email is taken.
     * - `default_role`: What a person becomes who signs in for the first time; null: only invited people come in.
     * - `role_claim`: The claim that decides the role on the first sign-in, such as `groups`.
     * - `roles_by_claim`: The role for each value of that claim; of several the highest counts, and none leaves `default_role`.
     * - `password_sign_in`: Whether members who have linked the provider may still use a password or passkey here; owners always may.
     *
     * @throws {VestraError} `identity_provider_error`, `role_missing`, `live_key_required`
     */
    set: Call<Api['identityProvider']['set']>;
    /**
     * Take the org’s own sign-in away; whoever it signed in is logged out.
     *
     * For an owner, or a live key with scope `all`. Members with a password go on with it; those whom the provider made cannot come in until it is set again.
     *
     * `DELETE /v1/identity-provider`, scope admin; `vestra identity-provider remove`
     *
     * @throws {VestraError} `identity_provider_not_found`, `role_missing`, `live_key_required`
     */
    remove: Call<Api['identityProvider']['remove']>;
  };
  health: {
    /**
     * Say whether the API is up; 503 while the database is away.
     *
     * Open to everybody, for load balancers and monitors: 503 while the server cannot take requests.
     *
     * `GET /v1/health`, open; `vestra health`
     */
    get: Call<Api['health']['get']>;
  };
};
