"""What the service answers. Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Any, Literal, Union

from ._resource import Resource

DeploymentVersionManifestApproval = Literal[
    "payment",
    "booking",
    "cancellation",
    "send_email",
    "publish",
    "delete",
]
DeploymentVersionManifestMemory = Literal["vestra", "customer", "none"]
DeploymentVersionTestsStatus = Literal[
    "queued",
    "running",
    "passed",
    "failed",
    "error",
    "cancelled",
]
DeploymentVersionCreatedByType = Literal["key", "member", "mcp_grant", "system"]
TestRunResultTranscriptRole = Literal["user", "agent", "work"]
ContentChangesChangeChange = Literal["added", "removed", "changed"]
ReplayStatus = Literal["queued", "running", "completed", "error", "cancelled"]
ReplayTalkStatus = Literal["queued", "running", "same", "different", "failed", "cancelled"]
ReplayTalkExchangeResult = Literal["same", "different", "failed"]
ConversationStatus = Literal["idle", "replying", "working", "waiting"]
ConversationOpenWorkStatus = Literal["queued", "working", "waiting", "done", "failed"]
ConversationOpenInteractionKind = Literal[
    "ask_question",
    "connector_auth",
    "tool_permission",
    "credit_approval",
    "exit_plan",
    "hands_approval",
    "plan_limit",
    "custom",
]
TurnStatus = Literal["replying", "working", "waiting", "settled", "failed", "stopped"]
TaskProgressStatus = Literal["pending", "in_progress", "completed"]
InteractionType = Literal["approval", "question", "connect", "handoff", "tool_call"]
InteractionStatus = Literal["pending", "resolved", "cancelled", "expired"]
InteractionNeed = Literal["present_user", "nonce", "connection", "installation"]
InteractionOutcomeDecision = Literal["approved", "denied", "answered", "cancelled", "expired"]
FileSource = Literal["upload", "output", "tool"]
TurnTraceMissingToolReason = Literal[
    "unreachable",
    "credentials_refused",
    "secret_missing",
    "user_secret_missing",
    "secret_unusable",
    "sign_in_over",
    "removed",
    "too_many_tools",
]
ScenarioDraftPersonalKind = Literal["user", "email", "phone", "card", "iban", "other"]
MessageFeedbackRaterType = Literal["user", "member", "key"]
BatchStatus = Literal["running", "cancelled", "completed"]
BatchItemStatus = Literal["queued", "running", "succeeded", "failed", "cancelled"]
RoutineKind = Literal["schedule", "trigger", "app_event"]
RoutineStatus = Literal["active", "completed", "failed"]
RoutineRunStatus = Literal["started", "filtered", "skipped"]
BrowserFetchStepKind = Literal["click", "type", "scroll", "wait_for", "page_fetch"]
MemoryKind = Literal[
    "identity",
    "relationship",
    "commitment",
    "preference",
    "project_state",
    "other",
]
MemorySource = Literal["user_direct", "tool_observed", "upload", "screen", "agent_inferred"]
SessionScreen = Literal[False, "view", "control"]
SessionStatus = Literal["live", "expired", "revoked"]
WebhookEndpointEvent = Literal[
    "conversation.created",
    "reply.completed",
    "message.feedback",
    "turn.failed",
    "task.started",
    "task.completed",
    "task.failed",
    "task.stopped",
    "interaction.created",
    "interaction.resolved",
    "interaction.expired",
    "file.created",
    "routine.ran",
    "routine.failed",
    "batch.completed",
    "test_run.completed",
    "replay.completed",
    "deployment.promoted",
    "deployment.rolled_back",
    "tool_server.away",
    "connection.failed",
    "user.created",
    "user.deleted",
    "key.created",
    "key.rolled",
    "key.revoked",
    "mcp_grant.created",
    "mcp_grant.revoked",
    "usage.threshold_reached",
    "usage.cap_reached",
    "webhook.disabled",
    "webhook.test",
    "*",
]
WebhookDeliveryEventType = Literal[
    "conversation.created",
    "reply.completed",
    "message.feedback",
    "turn.failed",
    "task.started",
    "task.completed",
    "task.failed",
    "task.stopped",
    "interaction.created",
    "interaction.resolved",
    "interaction.expired",
    "file.created",
    "routine.ran",
    "routine.failed",
    "batch.completed",
    "test_run.completed",
    "replay.completed",
    "deployment.promoted",
    "deployment.rolled_back",
    "tool_server.away",
    "connection.failed",
    "user.created",
    "user.deleted",
    "key.created",
    "key.rolled",
    "key.revoked",
    "mcp_grant.created",
    "mcp_grant.revoked",
    "usage.threshold_reached",
    "usage.cap_reached",
    "webhook.disabled",
    "webhook.test",
]
WebhookDeliveryStatus = Literal["pending", "succeeded", "failed"]
ConnectionStatus = Literal["pending", "connected", "failed"]
KeyScope = Literal["setup", "runtime", "admin", "all"]
McpGrantScope = Literal["runtime", "setup", "admin"]
McpGrantReason = Literal[
    "ended",
    "given_back",
    "code_used_twice",
    "refresh_token_used_twice",
    "member",
]
UsageAlertCap = Literal["org_daily_usd", "org_monthly_usd", "user_daily_usd", "user_monthly_usd"]
AppSignInClient = Literal["org", "operator", "automatic", "missing"]
AppClientAuthMethod = Literal["client_secret_basic", "client_secret_post", "none"]
OpenaiResponseStatus = Literal["completed", "failed", "in_progress", "cancelled", "incomplete"]
MeMemberRole = Literal["owner", "admin", "developer"]
McpAuthorizationGoesToKind = Literal["site", "computer", "app"]
LineItemKind = Literal["orchestrator", "intelligence", "tools", "compute", "background", "voice"]
AuditEntryActorType = Literal["key", "member", "mcp_grant", "session", "system"]
ModelTake = Literal["text", "image", "pdf", "audio"]


class Deleted(Resource):
    object: str
    id: str
    deleted: Literal[True]


class Deployment(Resource):
    """A named configuration of the agent, with the versions that test and live keys run."""
    object: Literal["deployment"]
    """Always `deployment`: what kind of object this is."""
    id: str
    """The id of a deployment, `dep_` and 24 characters."""
    name: str
    """What people call it."""
    slug: str
    """Its name in addresses and files; taken wherever `{deployment_id}` is."""
    description: str
    """What it is for; empty where none was given."""
    base: Literal["agent"]
    """Always `agent`: what it is a configuration of."""
    status: Literal["active", "archived"]
    """`archived`: put away, no new conversation or version reaches it."""
    draft_version: int
    """The version that test keys run."""
    live_version: int | None
    """The version that live keys run; null until one is promoted."""
    newest_version: int
    """The version that `format=yaml` shows, and that a file is compared with when it is applied."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    updated_at: str
    """When it was last changed, as ISO 8601 in UTC."""


class RolledBackDeployment(Deployment):
    webhook_secrets: list[DeploymentWebhookSecret]
    """Endpoints of the file that this call made, each with its secret."""


class DeploymentWithVersion(Deployment):
    """What it is about, as it was at that moment."""
    version: int
    """The version that runs from now on in the mode of the event."""
    became_default: bool
    """Whether the deployment also became the org’s default by it."""


class DeploymentWithVersionAndPreviousVersion(Deployment):
    """What it is about, as it was at that moment."""
    version: int
    """The version that is live again."""
    previous_version: int
    """The version that was live until then."""


class PromotedDeployment(Deployment):
    version: DeploymentVersion
    """The version that this call is about."""
    promoted: bool
    """Whether it runs in the key’s mode now; false while its tests are still playing, or where they
    failed.
    """
    became_default: bool
    """Whether the deployment became the org’s default by this call, because there was none."""
    test_run: TestRun | None
    """The test run that decides; null where none was needed."""
    webhook_secrets: list[DeploymentWebhookSecret]
    """Endpoints of the file that this call made, each with its secret."""


class AppliedDeployment(Deployment):
    version: DeploymentVersion
    """The version that this call is about."""
    promoted: bool
    """Whether it runs in the key’s mode now; false while its tests are still playing, or where they
    failed.
    """
    became_default: bool
    """Whether the deployment became the org’s default by this call, because there was none."""
    test_run: TestRun | None
    """The test run that decides; null where none was needed."""
    webhook_secrets: list[DeploymentWebhookSecret]
    """Endpoints of the file that this call made, each with its secret."""
    changed: list[str]
    """The keys of the file that changed; empty where nothing did and no version was made."""
    created: bool
    """Whether this call made the deployment."""
    warnings: list[DeploymentWarning]
    """What was taken and may not be what was meant."""


class DeploymentVersion(Resource):
    """The version that this call is about."""
    object: Literal["deployment_version"]
    """Always `deployment_version`: what kind of object this is."""
    deployment_id: str
    """The id of a deployment, `dep_` and 24 characters."""
    version: int
    """Counts up from 1 with every saved change."""
    note: str | None
    """What was noted when it was saved; null where nothing was."""
    manifest: DeploymentVersionManifest
    """All its settings; they can be sent back as they are."""
    changed: list[str]
    """The keys that differ from the version before; `knowledge` and `skills` also where only their
    content does.
    """
    missing: list[str]
    """Ids of its notebooks, skills and tool servers that were deleted since. A version with any of
    them cannot be promoted or rolled back to.
    """
    tests: DeploymentVersionTests | None
    """Its last test run; null where none was made."""
    is_draft: bool
    """Whether test keys run it."""
    is_live: bool
    """Whether live keys run it."""
    created_by: DeploymentVersionCreatedBy
    """Who saved it."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""


class TestRun(Resource):
    """One play of all scenarios against a version."""
    object: Literal["test_run"]
    """Always `test_run`: what kind of object this is."""
    id: str
    """The id of a test run, `trun_` and 24 characters."""
    deployment_id: str
    """The id of a deployment, `dep_` and 24 characters."""
    version: int
    """The version that is tested."""
    mode: Literal["test", "live"]
    """The mode whose wallet pays for it."""
    status: DeploymentVersionTestsStatus
    """`passed` where every scenario did; `error` where it could not be decided, as `error_code` says."""
    promote_on_pass: bool
    """Whether the version is promoted when the run passes."""
    counts: TestRunCounts
    """How many scenarios are in each state."""
    results: list[TestRunResult]
    """The verdict on each scenario."""
    resumes: int
    """How often the run went on after a restart had cut it off."""
    error_code: str | None
    """Why the run ended in error, such as `no_judge_model`; null where it did not."""
    note: str | None
    """What a reader should know besides the results, such as that the run waits for an index."""
    cost_usd: float
    """What the run was billed so far, in US dollars."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    started_at: str | None
    """When the first scenario began; null before."""
    finished_at: str | None
    """When the last verdict fell; null before."""


class ContentChanges(Resource):
    """How the content of two versions differs."""
    object: Literal["content_changes"]
    """Always `content_changes`: what kind of object this is."""
    deployment_id: str
    """The id of a deployment, `dep_` and 24 characters."""
    from_: int | None
    """The version it was compared with; null: nothing."""
    version: int
    """The version whose content is compared."""
    changes: list[ContentChangesChange]
    """Documents first, then files of skills, each in the order of their names."""
    left_out: int
    """How many more changes there are."""


class Interview(Resource):
    object: Literal["interview"]
    """Always `interview`: what kind of object this is."""
    conversation_id: str
    """The id of a conversation, `conv_` and 24 characters."""
    deployment: str
    """The slug that the file names."""
    status: Literal["asking", "ready"]
    """`asking` until it knows enough, then `ready`."""
    question: str | None
    """What it wants to know next; null once it is ready."""
    file: InterviewFile | None
    """The deployment file so far, as JSON; null before there is one."""
    yaml: str | None
    """The same file as YAML, to save as `service.yaml`; null before there is one."""


class Scenario(Resource):
    """A pretend user with a goal, and what success means."""
    object: Literal["scenario"]
    """Always `scenario`: what kind of object this is."""
    id: str
    """The id of a scenario, `scn_` and 24 characters."""
    deployment_id: str
    """The id of a deployment, `dep_` and 24 characters."""
    name: str
    """What the test is called."""
    persona: str
    """Who the pretend user is and how they talk."""
    goal: str
    """What the pretend user wants, in their own words."""
    success_criteria: list[str]
    """What must be true at the end; every line must be met."""
    must_never: list[str]
    """What must never happen; any line fails the test."""
    tool_results: dict[str, Any] | None = None
    """What tools answer in this test, by the name of the tool or `<server slug>.<tool>`."""
    recorded_calls: list[ScenarioRecordedCall] | None = None
    """What tools answer to certain arguments, before `tool_results` is looked at."""
    approves: bool | None = None
    """Whether the pretend user says yes to tools of the deployment’s MCP servers; absent: no."""
    managed_by: Literal["file"] | None
    """`file` where the deployment file declares it and only the file changes it; else null."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    updated_at: str
    """When it was last changed, as ISO 8601 in UTC."""


class TestRunEvent(Resource):
    """How far a test run is."""
    object: Literal["test_run_event"]
    """Always `test_run_event`: what kind of object this is."""
    type: Literal["test_run.progress", "test_run.completed"]
    """`test_run.progress` with each change, `test_run.completed` once at the end."""
    seq: int
    """Counts up from 1 on this stream."""
    run_id: str
    """The id of a test run, `trun_` and 24 characters."""
    data: TestRunEventDataByStatus | TestRunEventDataByTestRun
    """How far the run is; with `test_run.completed` the whole run."""


class Replay(Resource):
    """Real talks that another version answers again, without side effects."""
    object: Literal["replay"]
    """Always `replay`: what kind of object this is."""
    id: str
    """The id of a replay of talks, `rpl_` and 24 characters."""
    deployment_id: str
    """The id of a deployment, `dep_` and 24 characters."""
    version: int
    """The version that answers again."""
    mode: Literal["test", "live"]
    """The mode whose talks they are and whose wallet pays."""
    status: ReplayStatus
    """`completed` where every talk has its result, whichever it is."""
    counts: ReplayCounts
    """How many talks are in each state."""
    talks: list[ReplayTalk]
    """Each talk, newest first."""
    resumes: int
    """How often it went on after a restart had cut it off."""
    error_code: str | None
    """Why it ended in error; null where it did not."""
    cost_usd: float
    """What it was billed so far, in US dollars."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    started_at: str | None
    """When the first talk began; null before."""
    finished_at: str | None
    """When it ended; null before."""


class Notebook(Resource):
    """A collection of documents that the agent reads."""
    object: Literal["notebook"]
    """Always `notebook`: what kind of object this is."""
    id: str
    """The id of a notebook, `nb_` and 24 characters."""
    slug: str
    """Its name in lists and files."""
    name: str
    """What people and the agent call it."""
    description: str
    """When to look in it: the agent decides by this."""
    access: NotebookAccessAll | NotebookAccessUsers
    """For which users the agent reads it."""
    document_count: int
    """How many documents are in it, at most 1,000."""
    bytes: int
    """The size of its text in bytes, at most 5 MB."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    updated_at: str
    """When it was last changed, as ISO 8601 in UTC."""


class Document(Resource):
    """One text of a notebook."""
    object: Literal["document"]
    """Always `document`: what kind of object this is."""
    id: str
    """The id of a document, `doc_` and 24 characters."""
    notebook_id: str
    """The id of a notebook, `nb_` and 24 characters."""
    title: str
    """What it is called."""
    content_type: str
    """What it was sent as, such as `text/markdown` or `application/pdf`."""
    bytes: int
    """The size of its text in bytes."""
    sha256: str
    """The SHA-256 of its text, to tell whether it changed."""
    indexed: bool
    """Whether all of it is found by meaning; until then some is found by its words alone."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""


class DocumentWithText(Document):
    text: str
    """All of its text, as it was read out of what was sent."""


class Skill(Resource):
    """A bundle of text files that teaches the agent how to do something."""
    object: Literal["skill"]
    """Always `skill`: what kind of object this is."""
    id: str | None
    """`skl_` and 24 characters; null for a built-in skill."""
    source: Literal["company", "built_in"]
    """`company`: the org uploaded it; `built_in`: it comes with the service."""
    slug: str
    """Its name in a deployment."""
    name: str
    """What its `SKILL.md` calls it."""
    description: str
    """When to use it, from its `SKILL.md`: the agent decides by this."""
    version: str | None
    """The content hash of its current version; null for a built-in skill."""
    sha256: str | None
    """The hash of its files as uploaded, as the CLI computes it over a folder; null for a built-in
    skill.
    """
    created_at: str | None
    """When it was uploaded first; null for a built-in skill."""
    updated_at: str | None
    """When its files last changed; null for a built-in skill."""


class SkillWithFiles(Skill):
    files: list[SkillFile]
    """All its files with their text."""


class SkillVersion(Resource):
    """One state of a skill’s files."""
    object: Literal["skill_version"]
    """Always `skill_version`: what kind of object this is."""
    hash: str
    """The hash of the files of this version."""
    parent_hash: str | None
    """The hash of the version before; null for the first."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""


class McpServer(Resource):
    """A registered server whose tools the agent may call."""
    object: Literal["mcp_server"]
    """Always `mcp_server`: what kind of object this is."""
    id: str
    """The id of an MCP server, `mcp_` and 24 characters."""
    slug: str
    """What the agent knows it by: its tools are `mcp__<slug>__<tool>`."""
    name: str
    """What people call it."""
    url: str
    """The https address that it speaks MCP at."""
    auth: McpServerAuthNone | McpServerAuthHeaders
    """How it is called; a credential shows as its name, never as its value."""
    tools: McpServerTools
    """The floor for every deployment in both modes: a version may add to it and never take away."""
    sampling: bool
    """Whether it may ask the agent’s model while one of its tools runs, at the user’s cost."""
    secrets: list[str]
    """Names of company secrets that it needs."""
    user_secrets: list[str]
    """Names of secrets that each user needs to have."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    updated_at: str
    """When it was last changed, as ISO 8601 in UTC."""


class Secret(Resource):
    """A stored credential, without its value."""
    object: Literal["secret"]
    """Always `secret`: what kind of object this is."""
    name: str
    """What it is referenced by: `${NAME}`."""
    user_id: str | None
    """Whose secret it is; null: the company’s."""
    mode: Literal["test", "live"]
    """The mode it is kept for; the other mode does not see it."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    updated_at: str
    """When it was last changed, as ISO 8601 in UTC."""


class Conversation(Resource):
    """A conversation between a user and the agent."""
    object: Literal["conversation"]
    """Always `conversation`: what kind of object this is."""
    id: str
    """The id of a conversation, `conv_` and 24 characters."""
    user_id: str | None
    """Whose conversation it is; null: the org’s own agent."""
    deployment_id: str | None
    """The deployment that answers in it; null where none does."""
    deployment_version: int | None
    """In test mode the version it began on, in live mode the one that was live at its last message."""
    status: ConversationStatus
    """`idle`: nothing is going on; `replying`: a reply is being made; `working`: a task runs;
    `waiting`: something waits for an answer.
    """
    metadata: dict[str, str]
    """Your own labels as you sent them; empty when there are none."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    last_active_at: str
    """When something was last said or done in it, as ISO 8601 in UTC."""
    open_work: list[ConversationOpenWork]
    """Work that has not ended, oldest first."""
    open_interactions: list[ConversationOpenInteraction]
    """What waits for a person, oldest first."""
    pending_tool_calls: list[ConversationPendingToolCall]
    """Calls of your own functions that wait for their result."""
    last_event_seq: int
    """The `seq` of its newest event: read the conversation, follow its events after this one, and
    nothing is missed.
    """
    cost_usd: float
    """What was billed so far, in US dollars; the last charges may land seconds after the end."""
    cost_breakdown: ConversationCostBreakdown
    """The same money, by what it was spent on."""
    turn_id: str | None = None
    """The turn of the first message, where one was sent."""


class Turn(Resource):
    """What happened to one message, from its sending to the final answer."""
    object: Literal["turn"]
    """Always `turn`: what kind of object this is."""
    id: str
    """The id of a turn: a message and what came of it, `turn_` and 24 characters."""
    conversation_id: str
    """The id of a conversation, `conv_` and 24 characters."""
    status: TurnStatus
    """`replying`, `working` and `waiting` go on; `settled`, `failed` and `stopped` are final."""
    reply: TurnReply | None
    """The final answer: the work’s, where the message was handed off."""
    acknowledgement: str | None
    """The one line said when work took the message."""
    task_id: str | None
    """The work that the message was handed over to; null where it was answered directly."""
    interactions: list[str]
    """What the turn waits on."""
    error: TurnError | None
    """Why it failed; null unless it did."""
    cost_usd: float
    """What the turn was billed so far, in US dollars."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    settled_at: str | None
    """When it came to its end, as ISO 8601 in UTC; null while it goes on."""


class Message(Resource):
    """Something that was said in a conversation."""
    object: Literal["message"]
    """Always `message`: what kind of object this is."""
    id: str
    """The id of a message, `msg_` and 24 characters."""
    conversation_id: str
    """The id of a conversation, `conv_` and 24 characters."""
    turn_id: str
    """The id of a turn: a message and what came of it, `turn_` and 24 characters."""
    task_id: str | None
    """The work it is a summary of, or was said in; null otherwise."""
    role: TestRunResultTranscriptRole
    """Who said it: `user`, the `agent` in a reply, or `work` as the summary of a task."""
    text: str
    """What was said, as Markdown."""
    data: Any
    """The structured value that `output_schema` asked for; null where none was."""
    truncated: Literal[True] | None = None
    """The model ran into its limit of length: the text ends there."""
    context: dict[str, Any] | None
    """The data that was sent along with it; null where there was none."""
    attachments: list[MessageAttachment]
    """Files that were sent along."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""


class Task(Resource):
    """One longer piece of work."""
    object: Literal["task"]
    """Always `task`: what kind of object this is."""
    id: str
    """The id of a piece of work, `task_` and 24 characters."""
    user_id: str | None
    """Whom it is done for; null: the org’s own agent."""
    conversation_id: str | None
    """The conversation that asked for it."""
    deployment_id: str | None
    """The deployment that does it."""
    deployment_version: int | None
    """The version of the deployment that it runs on."""
    status: ConversationOpenWorkStatus
    """`queued` until a place is free, `working`, `waiting` on an approval, question or call; at its
    end `done` or `failed`.
    """
    title: str | None
    """What it is about in a few words; null until it is named."""
    progress: list[TaskProgress]
    """Its plan, step by step; empty where it made none."""
    result: TaskResult
    """What came of it; empty until it has ended."""
    outcome: TaskOutcome | None
    """Whether the message’s `success_criteria` were met; null where there were none, or it goes on."""
    error: TaskError | None
    """Why it failed or was stopped; null unless it was."""
    cost_usd: float
    """What was billed so far, in US dollars; the last charges may land seconds after the end."""
    cost_breakdown: ConversationCostBreakdown
    """The same money, by what it was spent on."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    updated_at: str
    """When it was last changed, as ISO 8601 in UTC."""


class TaskWithReason(Task):
    """What it is about, as it was at that moment."""
    reason: str | None = None
    """What stopped it: `max_turns`, `max_budget`, `credits_exhausted` or `hook_blocked`; absent where
    a caller or a person did.
    """
    message: str | None = None
    """The same in a sentence; absent where a caller or a person stopped it."""


class Interaction(Resource):
    """Something that the agent waits on."""
    object: Literal["interaction"]
    """Always `interaction`: what kind of object this is."""
    id: str
    """`int_…`, or `call_…` where it is a call of one of your own functions."""
    user_id: str | None
    """The user it concerns; null: the org’s own agent."""
    task_id: str | None
    """The work that waits; null where the reply does."""
    conversation_id: str | None
    """The conversation that waits."""
    kind: ConversationOpenInteractionKind
    """What made it wait: a question, an app to connect, a tool, money, a plan, an action in person, a
    limit, or `custom` as `details.renderer` says.
    """
    type: InteractionType
    """Which answer it takes: a yes or no, answers, a connected app, a word that it is done, or the
    result of a function.
    """
    status: InteractionStatus
    """`pending` until it is answered, withdrawn or too old."""
    summary: str
    """One line to show the person, at most 120 characters."""
    moves_money: bool | None
    """Whether saying yes spends money; null for a call of one of your own functions."""
    requires_present_user: bool
    """Whether the yes must come from a person who is there: send `present_user: true` with it."""
    approver: Literal["user", "org"] | None = None
    """Of an approval, who says yes: the user, or the org by a key or a member."""
    needs: list[InteractionNeed]
    """What a yes must bring: `present_user: true`, the `nonce`. `connection`, `installation`: it is
    done elsewhere, and no yes is taken.
    """
    nonce: str | None = None
    """Of a `hands_approval`: send it back with the yes."""
    questions: list[InteractionQuestion] | None = None
    """What is asked, where it is a question or a hand-off."""
    frame_url: str | None = None
    """Of a hand-off read alone: the page as a JPEG data URI."""
    browser: InteractionBrowser | None = None
    """Of a hand-off in the browser: open a session with a screen so that a person can do it."""
    details: InteractionDetails
    """What it is about, by the type."""
    taken_until: str | None = None
    """Of a pending call of your function: until when the process that answers it has it; absent:
    nobody has.
    """
    outcome: InteractionOutcome | None
    """How it ended; null while it waits."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    expires_at: str | None
    """When it ends by itself; null: never."""
    resolved_at: str | None
    """When it ended; null while it waits."""


class File(Resource):
    """A file that was uploaded, or that work has made."""
    object: Literal["file"]
    """Always `file`: what kind of object this is."""
    id: str
    """The id of a file, `file_` and 24 characters."""
    user_id: str | None
    """Whose file it is; null: the org’s own agent."""
    filename: str | None
    """What it is called; null where it has no name."""
    mime_type: str | None
    """What it is, told from its content where that can be, such as `application/pdf`."""
    size_bytes: int | None
    """Its size in bytes."""
    source: FileSource
    """`upload`: a caller or a person sent it; `output`: work made it; `tool`: a tool answered with it."""
    task_id: str | None
    """The work that made it; null for an upload."""
    conversation_id: str | None
    """The conversation it was made in; null for an upload."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""


class FileWithDownloadUrl(File):
    download_url: str
    """Where the bytes are, for 15 minutes and without a key."""
    download_expires_at: str
    """When that address stops working, as ISO 8601 in UTC."""


class TurnTrace(Resource):
    """Each step and each model call of a reply."""
    object: Literal["turn_trace"]
    """Always `turn_trace`: what kind of object this is."""
    conversation_id: str
    """The id of a conversation, `conv_` and 24 characters."""
    turn_id: str
    """The turn that is traced."""
    task_id: str | None
    """The work that the reply handed over to."""
    steps: list[TurnTraceStep]
    """Calls of tools, in the order they were made."""
    turns: list[TurnTraceTurn]
    """Calls of a model, in the order they were made."""
    totals: TurnTraceTotals
    """All that was charged for it, tools and the computer included."""
    missing_tools: list[TurnTraceMissingTool]
    """Servers whose tools the agent did not have; it was told so."""


class ScenarioDraft(Resource):
    """A scenario drawn from a talk; not saved."""
    object: Literal["scenario_draft"]
    """Always `scenario_draft`: what kind of object this is."""
    deployment_id: str
    """The deployment whose tests it is for."""
    deployment_version: int
    """The version that gave the last answer of the talk."""
    conversation_id: str
    """The id of a conversation, `conv_` and 24 characters."""
    user_id: str | None
    """Whose talk it was; null: the org’s own."""
    task_id: str | None
    """The task that it was drawn from; null: from the whole conversation."""
    scenario: ScenarioDraftScenario
    """Can be sent to `POST …/scenarios` as it is."""
    drafted_by: str | None
    """The model that worded name, persona and criteria; null: they were taken from the talk as it was
    said.
    """
    personal: list[ScenarioDraftPersonal]
    """What says who the person is. A scenario is kept, and read in both modes: replace these before
    you save it.
    """
    notes: list[str]
    """What of the talk the draft does not hold, and why."""


class MessageFeedback(Resource):
    object: Literal["message_feedback"]
    """Always `message_feedback`: what kind of object this is."""
    id: str
    """The rating; it stays the same when the rater changes their mind."""
    conversation_id: str
    """Where the answer was given."""
    message_id: str
    """The answer that was rated."""
    deployment_id: str
    """The deployment that gave it."""
    deployment_version: int
    """The version that gave it."""
    rating: Literal["good", "bad"]
    """Whether the answer was good or bad."""
    note: str | None
    """What the rater added."""
    rater: MessageFeedbackRater
    """Who rated it."""
    created_at: str
    """When it was first rated."""
    updated_at: str
    """When it was last rated."""


class FeedbackCounts(Resource):
    object: Literal["feedback_counts"]
    """Always `feedback_counts`: what kind of object this is."""
    data: list[FeedbackCount]
    """One line for each version, the newest first."""


class ToolCall(Resource):
    """A call of a function that you have taken: carry it out, and answer it as the interaction with
    this id.
    """
    object: Literal["tool_call"]
    """Always `tool_call`: what kind of object this is."""
    call_id: str
    """The same however often the call is taken: the key by which its effect happens once."""
    name: str
    """The function to carry out."""
    arguments: Any
    """What to call it with; checked against the function’s schema."""
    deployment_id: str
    """The id of a deployment, `dep_` and 24 characters."""
    conversation_id: str
    """The id of a conversation, `conv_` and 24 characters."""
    task_id: str | None
    """The work that calls it; null where a reply does."""
    user_id: str | None
    """Whom it is called for; null: the org’s own agent."""
    claim_id: str
    """Tells who has taken the call, from `take`."""
    attempt: int
    """Above 1: somebody took it before and may have carried it out."""
    taken_until: str
    """Others may take it from then on, unless it is renewed."""
    expires_at: str | None
    """The agent goes on without an answer then."""


class FunctionEndpoint(Resource):
    """The address that answers the functions of a deployment."""
    object: Literal["function_endpoint"]
    """Always `function_endpoint`: what kind of object this is."""
    deployment_id: str
    """The id of a deployment, `dep_` and 24 characters."""
    mode: Literal["test", "live"]
    """The mode whose calls it answers."""
    url: str
    """The https address that is called."""
    last_failure: FunctionEndpointLastFailure | None
    """What went wrong the last time it failed; null where it never has at this address."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    updated_at: str
    """When it was last changed, as ISO 8601 in UTC."""


class FunctionEndpointWithSecret(FunctionEndpoint):
    secret: str | None = None
    """`whsec_…`, where this call made the endpoint; absent where it only changed the address."""


class FunctionEndpointWithSecret2(FunctionEndpoint):
    secret: str
    """`whsec_…`: calls are signed with it as webhooks are; shown this once."""


class TaskTrace(Resource):
    """Each step and each model call of a piece of work."""
    object: Literal["task_trace"]
    """Always `task_trace`: what kind of object this is."""
    task_id: str
    """The id of a piece of work, `task_` and 24 characters."""
    steps: list[TurnTraceStep]
    """Calls of tools, in the order they were made."""
    turns: list[TurnTraceTurn]
    """Calls of a model, in the order they were made."""
    totals: TaskTraceTotals
    """All that was charged for it, tools and the computer included."""
    missing_tools: list[TaskTraceMissingTool]
    """Servers whose tools the agent did not have; it was told so."""


class Batch(Resource):
    """Many conversations run as one job."""
    object: Literal["batch"]
    """Always `batch`: what kind of object this is."""
    id: str
    """The id of a batch, `bat_` and 24 characters."""
    status: BatchStatus
    """`running` until every item has ended; `cancelled` stays so while its running items finish."""
    deployment_id: str | None
    """The deployment that runs the items; null where it has been deleted."""
    concurrency: int
    """How many items run at once at most."""
    item_count: int
    """How many items there are."""
    counts: BatchCounts
    """How many items are in each state."""
    spend_usd: float
    """What its items were billed so far, in US dollars."""
    metadata: dict[str, str]
    """Your own labels as you sent them; empty when there are none."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    completed_at: str | None
    """When the last item ended; null while any runs."""


class BatchItem(Resource):
    """One conversation of a batch."""
    object: Literal["batch.item"]
    """Always `batch.item`: what kind of object this is."""
    index: int
    """Its place in what was sent, from 0."""
    user_id: str | None
    """Whom it is done for; null: the org’s own agent."""
    status: BatchItemStatus
    """How far this item is."""
    conversation_id: str | None
    """Its conversation; null until it has begun."""
    task_id: str | None
    """Its work; null until it has begun."""
    result: BatchItemResult | None
    """What came of it; null unless it succeeded."""
    error: BatchItemError | None
    """Why it failed; null unless it did."""
    metadata: dict[str, str]
    """Your own labels as you sent them; empty when there are none."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    finished_at: str | None
    """When it ended; null while it goes on."""


class Routine(Resource):
    """Something that the agent is asked again and again."""
    object: Literal["routine"]
    """Always `routine`: what kind of object this is."""
    id: str
    """The id of a routine, `rtn_` and 24 characters."""
    user_id: str | None
    """Whom it runs for; null: the org’s own agent."""
    conversation_id: str | None
    """The conversation its runs are said in; null until there is one."""
    name: str
    """What it is called; where none was given, the start of `ask`."""
    ask: str
    """What the agent is asked at every run."""
    kind: RoutineKind
    """What makes it run: a schedule, a call of your system, or an event in a connected app."""
    schedule: RoutineSchedule | None
    """When it runs; null for one that runs on a call."""
    trigger: RoutineTrigger | None
    """What a call must carry; null for a scheduled one."""
    trigger_url: str | None
    """Where your system posts to with an API key; null for a scheduled one."""
    enabled: bool
    """False while it is paused."""
    status: RoutineStatus
    """`active`; `completed`: it will not run again; `failed`: an error stopped it for good."""
    last_run_at: str | None
    """When it last ran; null before its first run."""
    next_run_at: str | None
    """When it runs next; null while it is paused, finished or run on a call."""
    run_count: int
    """How often it has run."""
    last_error: RoutineLastError | None
    """Why the last run that was due did not happen; null once one has."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    updated_at: str
    """When it was last changed, as ISO 8601 in UTC."""


class RoutineWithRun(Routine):
    """What it is about, as it was at that moment."""
    run: RoutineRun2
    """Where the run can be followed."""


class RoutineWithReason(Routine):
    """What it is about, as it was at that moment."""
    reason: str
    """The error code of why the run did not happen."""
    message: str
    """The same in a sentence for whoever runs the deployment."""


class RoutineRun(Resource):
    """What came of running a routine now."""
    object: Literal["routine_run"]
    """Always `routine_run`: what kind of object this is."""
    routine_id: str
    """The id of a routine, `rtn_` and 24 characters."""
    status: RoutineRunStatus
    """`started`; `filtered`: the payload did not match; `skipped`: the routine is paused or has ended."""
    conversation_id: str | None
    """Where the run is said; null where none began."""
    turn_id: str | None
    """The turn of the run; null where none began."""


class User(Resource):
    """One of your end users."""
    object: Literal["user"]
    """Always `user`: what kind of object this is."""
    id: str
    """Your own id of the user."""
    name: str | None
    """What the user is called; null where you did not say."""
    email: str | None
    """The user’s email address; null where you did not say."""
    locale: str | None
    """The user’s language as a tag such as `pt-BR`; null where you did not say."""
    timezone: str | None
    """The user’s IANA time zone, which routines run in; null: UTC."""
    metadata: dict[str, Any]
    """Your own facts about the user, as you sent them."""
    status: Literal["active", "disabled"]
    """`disabled`: every call for the user answers 403 `user_disabled`."""
    spend_cap_usd: float | None
    """US dollars a day that the user may spend; null: the org’s cap for users counts."""
    monthly_cap_usd: float | None
    """US dollars a calendar month (UTC) that the user may spend; null: the org’s cap for users counts."""
    default_deployment: str | None
    """The deployment that answers the user where none is named; null: the org’s default."""
    memory_mode: DeploymentVersionManifestMemory
    """Who keeps what is learnt of the user, as the org has it."""
    is_service_user: bool
    """True for users that the service keeps for itself."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    spend_today_usd: float
    """US dollars spent since midnight UTC."""
    spend_month_usd: float
    """US dollars spent since the first of the month, UTC."""
    caps_remaining: UserCapsRemaining
    """What may still be spent: the smaller of the user’s and the org’s cap."""


class BrowserFetch(Resource):
    """What a page and its own data calls brought."""
    object: Literal["browser_fetch"]
    """Always `browser_fetch`: what kind of object this is."""
    url: str
    """Where the page ended up."""
    status: int
    """The HTTP status of the page; 502 where the site could not be reached."""
    title: str
    """The title of the page."""
    tab: str | None
    """Names the tab where it was kept open; send it as `tab` to go on. Null where it was closed."""
    captures: list[BrowserFetchCapture]
    """What the page’s own data calls brought."""
    steps: list[BrowserFetchStep]
    """How each step went, in order."""
    timings: BrowserFetchTimings
    """Where the time went."""
    frames: list[BrowserFetchFrame]
    """Small pictures at milestones, where `frames` asked for them."""


class BrowserCookies(Resource):
    object: Literal["browser_cookies"]
    """Always `browser_cookies`: what kind of object this is."""
    domain: str
    """The site that was asked for."""
    cookies: list[BrowserCookiesCookie]
    """Those of the names that the browser holds."""


class BrowserFrame(Resource):
    """How a tab looks at this moment."""
    object: Literal["browser_frame"]
    """Always `browser_frame`: what kind of object this is."""
    type: Literal["browser.frame", "browser.closed"]
    """`browser.frame`: a tab as it looks now; `browser.closed`: it is gone."""
    seq: int
    """Counts up from 1 on this stream."""
    tab: str
    """Tells the tabs apart."""
    tag: str | None
    """The `tag` of the fetch; null where it has none."""
    stage: str | None
    """The `stage` of the fetch; null where it has none."""
    url: str | None
    """Where the tab is; null once it is closed or hidden."""
    image: str | None
    """The tab as a JPEG data URI; null once it is closed or hidden."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""


class Memory(Resource):
    """One fact that is remembered."""
    object: Literal["memory"]
    """Always `memory`: what kind of object this is."""
    id: str
    """The id of a remembered fact, `mem_` and 24 characters."""
    text: str
    """The fact, in a sentence."""
    kind: MemoryKind
    """What kind of fact it is."""
    source: MemorySource
    """Where it came from: the user’s own words, a tool, an upload, the screen, or the agent’s own
    conclusion.
    """
    observed_at: str
    """When it was learnt, as ISO 8601 in UTC."""


class Session(Resource):
    """A short-lived page for one user."""
    object: Literal["session"]
    """Always `session`: what kind of object this is."""
    id: str
    """The id of a session, `ses_` and 24 characters."""
    user_id: str | None
    """The one user it is for; null: the org’s own agent."""
    conversation_id: str | None
    """The conversation that it opens; null for a screen opened alone."""
    deployment_id: str | None
    """The agent of its conversation."""
    chat: bool
    """Whether the page has a chat."""
    screen: SessionScreen
    """Whether the page shows the agent’s screen, to watch (`view`) or to use (`control`)."""
    voice: bool
    """Whether the page takes voice calls."""
    memory: bool
    """Whether the page lists what is remembered and lets it be deleted."""
    expires_at: str
    """When its token stops working, 15 minutes after it was made."""
    status: SessionStatus
    """`live`; `expired`: its time is over; `revoked`: somebody ended it."""
    opening: SessionOpening | None
    """What its page says before anything was said."""
    ice_servers: list[SessionIceServer] | None = None
    """Shown to the session’s own token, with `voice`: give them to the `RTCPeerConnection` that makes
    the offer. Absent where the server has none.
    """
    screen_paused: Literal[True] | None = None
    """Only while a view-only screen is private."""


class SessionWithToken(Session):
    token: str
    """`vst_…`: a bearer token for this session alone; shown this once, good for 15 minutes."""
    url: str
    """The page to open or embed; it carries the token in its fragment."""
    frame_ancestors: list[str]
    """Origins that may embed the page; empty: none."""


class FramePolicy(Resource):
    object: Literal["frame_policy"]
    """Always `frame_policy`: what kind of object this is."""
    frame_ancestors: list[str]
    """Origins that may embed the page; empty: none."""


class BrowserStream(Resource):
    object: Literal["browser_stream"]
    """Always `browser_stream`: what kind of object this is."""
    stream_url: str
    """Where the picture is streamed from."""
    preview_token: str | None
    """What opens the stream; null where the address is enough."""
    preview_token_param: str | None = None
    """The query parameter that takes it."""
    crop_pending: Literal[True] | None = None
    """The element that a hand-off shows is not on the page yet."""


class ScreenInput(Resource):
    object: Literal["screen_input"]
    """Always `screen_input`: what kind of object this is."""
    driving: bool
    """Whether the browser is in the hands of this session."""


class VoiceCall(Resource):
    object: Literal["voice_call"]
    """Always `voice_call`: what kind of object this is."""
    sdp: str
    """The answer to the offer: give it to the browser’s peer connection."""
    ends_at: str
    """When the call is ended at the latest, as ISO 8601 in UTC."""


class WebhookEndpoint(Resource):
    """An address of yours that hears events."""
    object: Literal["webhook_endpoint"]
    """Always `webhook_endpoint`: what kind of object this is."""
    id: str
    """The id of a webhook endpoint, `whk_` and 24 characters."""
    url: str
    """The address that events are posted to."""
    events: list[WebhookEndpointEvent]
    """The types it asked for; `*` alone: all of them."""
    description: str | None
    """Your own note on it; null where there is none."""
    active: bool
    """Whether events are sent; false after you paused it, it answered 410, or it failed for five days."""
    mode: Literal["test", "live"]
    """The mode whose events it hears."""
    deployment_id: str | None
    """Only this deployment’s events and the account’s own, where a deployment file made it; else null."""
    managed_by: Literal["file"] | None
    """`file` where a deployment file declares it and only the file changes it; else null."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    updated_at: str
    """When it was last changed, as ISO 8601 in UTC."""


class WebhookEndpointWithSecret(WebhookEndpoint):
    secret: str
    """`whsec_…`: check signatures with it; shown this once."""


class WebhookDelivery(Resource):
    """One attempt to reach an endpoint."""
    object: Literal["webhook_delivery"]
    """Always `webhook_delivery`: what kind of object this is."""
    id: str
    """The id of a delivery to a webhook endpoint, `whd_` and 24 characters."""
    endpoint_id: str
    """The id of a webhook endpoint, `whk_` and 24 characters."""
    event_id: str
    """The id of an event, `evt_` and 24 characters."""
    event_type: WebhookDeliveryEventType
    """What happened, as in the event."""
    attempt: int
    """Which attempt of this delivery it is, from 1."""
    status: WebhookDeliveryStatus
    """`pending` until a 2xx answer or the last attempt."""
    status_code: int | None
    """What the endpoint answered; null where it did not."""
    duration_ms: int | None
    """How long the endpoint took in milliseconds; null before an attempt."""
    error: str | None
    """Why the attempt failed; null where it did not."""
    next_attempt_at: str | None
    """When it is tried again; null where it is not."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""


class ToolServer(Resource):
    """What it is about, as it was at that moment."""
    object: Literal["tool_server"]
    """Always `tool_server`: what kind of object this is."""
    id: str
    """The id of the MCP server, or of the app."""
    server: str
    """The slug of the server, or the id of the app."""
    reason: TurnTraceMissingToolReason
    """Why they could not be had."""
    user_id: str | None
    """Null: it concerns every user."""
    message: str
    """What is wrong, in a sentence for whoever runs the deployment."""
    conversation_id: str
    """The id of a conversation, `conv_` and 24 characters."""
    turn_id: str
    """The id of a turn: a message and what came of it, `turn_` and 24 characters."""


class Connection(Resource):
    """What it is about, as it was at that moment."""
    object: Literal["connection"]
    """Always `connection`: what kind of object this is."""
    id: str
    """The id of a connection to an app, `con_` and 24 characters."""
    app: str
    """The id of the app."""
    user_id: str | None
    """Whose connection it is; null: the org’s own agent."""
    auth: Literal["oauth", "api_key"]
    """Whether the user signed in at the app, or gave a key of theirs."""
    status: ConnectionStatus
    """`pending` until the user has signed in, `connected` while it can be used, `failed` once it is
    over.
    """
    connect_url: str | None
    """Where the user signs in, while the connection is pending."""
    account: str | None
    """Whose account it is at the app; null where the app does not say."""
    expires_at: str | None
    """When the token that is kept now ends; it is renewed before, where `renews`. Null where the app
    does not say.
    """
    renews: bool
    """Whether the app gave something to renew the token with; if not, the user signs in anew."""
    error: str | None
    """What went wrong last, in plain words; null where nothing did since the last success."""
    created_at: str
    """When it was begun."""


class Key(Resource):
    """What it is about, as it was at that moment."""
    object: Literal["key"]
    """Always `key`: what kind of object this is."""
    id: str
    """The id of an API key, `key_` and 24 characters."""
    name: str
    """What you call it."""
    mode: Literal["test", "live"]
    """A test key sees test users, test money and drafts; a live key the live ones."""
    scopes: list[KeyScope]
    """What it opens: `setup`, `runtime`, `admin`, or `all` of them."""
    last4: str
    """The last four characters of the secret."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    last_used_at: str | None
    """When it was last used, to the minute; null: never."""
    expires_at: str | None
    """When it stops working; null: never."""


class KeyWithKey(Key):
    key: str
    """The whole secret, `vk_test_…` or `vk_live_…`; shown this once."""


class KeyWithKeyAndPreviousExpiresAt(Key):
    key: str
    """The new secret; shown this once."""
    previous_expires_at: str | None
    """When the old secret stops working; null where it did at once."""


class McpGrant(Resource):
    """What it is about, as it was at that moment."""
    object: Literal["mcp_grant"]
    """Always `mcp_grant`: what kind of object this is."""
    id: str
    """The id of an MCP client that was let in, `grant_` and 24 characters."""
    client: McpGrantClient
    """The client that was let in."""
    member: McpGrantMember
    """The member who let it in, and for whom it acts."""
    mode: Literal["test", "live"]
    """The mode that it acts in."""
    scopes: list[McpGrantScope]
    """What the member allowed; never more than their role allows when it is used."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    last_used_at: str | None
    """When it was last used, to the minute; null: never."""
    expires_at: str
    """When it ends by itself unless the client renews it before."""


class McpGrantWithReason(McpGrant):
    """What it is about, as it was at that moment."""
    reason: McpGrantReason
    """`ended`: somebody ended it; `given_back`: the client did; `code_used_twice`,
    `refresh_token_used_twice`: what is used once came twice, so that somebody else may have it;
    `member`: its member was removed, or chose a password by a link.
    """


class UsageAlert(Resource):
    """What it is about, as it was at that moment."""
    object: Literal["usage_alert"]
    """Always `usage_alert`: what kind of object this is."""
    cap: UsageAlertCap
    """The cap that spend has come near to, or reached."""
    user_id: str | None
    """Null: the cap is the org’s."""
    period: str
    """The day, `2026-11-15`, or the month, `2026-11`."""
    threshold: int
    """The percentage of the cap that spend has reached."""
    cap_usd: float
    """The cap itself, in US dollars."""
    spend_usd: float
    """What has been spent in the period, in US dollars."""


class App(Resource):
    """An app that users may connect."""
    object: Literal["app"]
    """Always `app`: what kind of object this is."""
    id: str
    """What `apps` of a deployment and `app` of a connection take."""
    name: str
    """What people call it."""
    description: str
    """What the agent can do with it."""
    icon_url: str | None
    """A picture of it; null where there is none."""
    connectable: bool
    """Whether users can connect it on this server."""
    sign_in: AppSignIn | None
    """How people sign in by OAuth; null where the app has no sign-in."""
    api_key: AppApiKey | None
    """Present where a connection can be made with a key of the user’s, sent as `api_key`."""


class AppClient(Resource):
    """An OAuth client that the org registered with an app."""
    object: Literal["app_client"]
    """Always `app_client`: what kind of object this is."""
    app: str
    """The id of the app."""
    mode: Literal["test", "live"]
    """The mode whose users sign in with it."""
    client_id: str
    """What the app calls this client."""
    has_secret: bool
    """Whether a secret is stored; it is never shown."""
    auth_method: AppClientAuthMethod | None
    """How the secret is sent; null: as the app says that it wants it."""
    issuer: str
    """The authorization server that the client belongs to, and the only one that is sent its secret."""
    redirect_uri: str
    """The redirect address that must be entered where the client is registered."""
    created_at: str
    """When a client was first given for this app."""
    updated_at: str
    """When it was given last."""


class OpenaiChatCompletion(Resource):
    """An answer as clients of OpenAI’s chat completions read it."""
    id: str
    """Names this answer."""
    object: Literal["chat.completion"]
    """Always `chat.completion`: what kind of object this is."""
    created: int
    """When it was made, in seconds since 1970."""
    model: str
    """The deployment that answered."""
    choices: list[OpenaiChatCompletionChoice]
    """One answer."""
    usage: OpenaiChatCompletionUsage
    """Tokens of all model calls that it took."""


class OpenaiResponse(Resource):
    """An answer as clients of OpenAI’s responses read it."""
    id: str
    """Names this response, `resp_…`."""
    object: Literal["response"]
    """Always `response`: what kind of object this is."""
    created_at: int
    """When it was made, in seconds since 1970."""
    status: OpenaiResponseStatus
    """`in_progress` until it ended in one of the other ways."""
    model: str
    """The deployment that answers."""
    conversation: OpenaiResponseConversation
    """The conversation that it is part of."""
    output: list[OpenaiResponseOutput]
    """What came so far: messages, calls of your functions, approvals that are asked for."""


class OpenaiConversation(Resource):
    """A conversation as clients of OpenAI’s API read it."""
    id: str
    """The id of the conversation, `conv_…`."""
    object: Literal["conversation"]
    """Always `conversation`: what kind of object this is."""
    created_at: int
    """When it was made, in seconds since 1970."""
    metadata: dict[str, str]
    """Your own labels as you sent them."""


class OpenaiModel(Resource):
    """A deployment in the place of a model."""
    id: str
    """The slug of a deployment: send it as `model`."""
    object: Literal["model"]
    """Always `model`: what kind of object this is."""
    created: int
    """When the deployment was made, in seconds since 1970."""
    owned_by: str
    """The id of the org."""


class Me(Resource):
    object: Literal["me"]
    """Always `me`: what kind of object this is."""
    org: MeOrg
    """The org that the call acts in."""
    mode: Literal["test", "live"]
    """Whether test or live data is seen."""
    key: MeKey | None
    """The key of the call; null where a member of the console calls."""
    member: MeMember | None
    """The member who calls, also by an MCP client of theirs; null where a key does."""


class Org(Resource):
    """The org with its settings, wallet and caps."""
    object: Literal["org"]
    """Always `org`: what kind of object this is."""
    id: str
    """The id of an org, `org_` and 24 characters."""
    name: str
    """What the org is called."""
    status: str
    """`active`; anything else: it is switched off."""
    mode: Literal["test", "live"]
    """The mode of the call; settings that are kept per mode are shown for it."""
    allowed_return_urls: list[str]
    """Where users may be sent back to after they connected an app."""
    allowed_embed_origins: list[str]
    """Origins whose pages may embed sessions."""
    default_deployment: str | None
    """The deployment that answers where none is named; null: one must be named."""
    require_user: bool
    """Whether calls that name no user are refused with `user_required`."""
    memory_panel: bool
    """Whether sessions may show users what is remembered."""
    memory_mode: DeploymentVersionManifestMemory
    """Who keeps what is learnt of users: the service as `vestra`, your endpoint as `customer`, nobody
    as `none`.
    """
    memory_endpoint: str | None
    """The address that keeps memory where `memory_mode` is `customer`; null where none is set."""
    otlp_endpoint: str | None
    """Where traces are sent as OpenTelemetry over HTTP; null: nowhere."""
    otlp_headers_secret: str | None
    """The secret that holds the headers for it; null: none."""
    otlp_content: bool
    """Whether traces hold what was said and what tools were given and answered."""
    model_fallbacks: dict[str, list[str]]
    """By the slug of a deployment, or `*` for the rest: models to go on with, in order, where its own
    is away.
    """
    openings: dict[str, OrgOpening]
    """By the slug of a deployment, or `*` for the rest: what a session’s page says first."""
    balance_usd: float
    """US dollars in the wallet of this mode; at zero, work stops with 402 `wallet_empty`."""
    caps: OrgCaps
    """How much may be spent."""
    usage_alerts: OrgUsageAlerts
    """When spending is told of."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""


class MemoryEndpoint(Resource):
    object: Literal["memory_endpoint"]
    """Always `memory_endpoint`: what kind of object this is."""
    url: str
    """The memory endpoint of the org."""
    secret: str
    """`whsec_…`: check the signature of calls with it; shown this once."""


class McpAuthorization(Resource):
    object: Literal["mcp_authorization"]
    """Always `mcp_authorization`: what kind of object this is."""
    return_url: str
    """Where the browser brings the answer to the client."""


class McpAuthorizationWithClient(Resource):
    """What an MCP client asks a member for."""
    object: Literal["mcp_authorization"]
    """Always `mcp_authorization`: what kind of object this is."""
    client: McpAuthorizationClient
    """Who asks."""
    goes_to: McpAuthorizationGoesTo
    """Who gets the access: where the browser is sent with the answer."""
    scopes: list[McpGrantScope]
    """What it would be granted: what it asked for, as far as the member’s role allows it."""
    refusal: McpAuthorizationRefusal | None
    """Why nothing can be granted; null where it can."""


class Limits(Resource):
    """How much may be spent, and how often a key may call."""
    object: Literal["limits"]
    """Always `limits`: what kind of object this is."""
    caps: OrgCaps
    """How much may be spent."""
    usage_alerts: LimitsUsageAlerts
    """When spending is told of."""
    rate_limits: LimitsRateLimits
    """How often a key may call."""


class UsageRow(Resource):
    """What was spent on one day, or on one thing."""
    object: Literal["usage_row"]
    """Always `usage_row`: what kind of object this is."""
    key: str
    """The day, or the id of what the row is about."""
    label: str | None
    """The name of the deployment, or of the row without a key; null if there is none."""
    cost_usd: float
    """What was billed, in US dollars."""
    task_count: int
    """How many pieces of work were charged for."""
    input_tokens: int
    """Tokens that models read."""
    output_tokens: int
    """Tokens that models wrote."""


class LineItem(Resource):
    """One charge."""
    object: Literal["line_item"]
    """Always `line_item`: what kind of object this is."""
    id: str
    """The id of a charge, `li_` and 24 characters."""
    kind: LineItemKind
    """What the money was spent on."""
    model: str | None
    """The model, where it was a model call; else null."""
    quantity: float
    """How many units."""
    unit: str
    """What is counted, such as `input_tokens`, `seconds` or `calls`."""
    unit_price_usd: float
    """US dollars for one unit."""
    cost_usd: float
    """US dollars, to the micro-dollar: six decimals."""
    estimated: Literal[True] | None = None
    """The quantity was counted here: the call was stopped or failed before its vendor said it."""
    task_id: str | None
    """The work it was spent in; null where it was a reply."""
    conversation_id: str | None
    """The conversation it was spent in; null where none."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""


class AuditEntry(Resource):
    """Something that was done, and by whom."""
    object: Literal["audit_entry"]
    """Always `audit_entry`: what kind of object this is."""
    id: str
    """The id of an entry of the audit log, `aud_` and 24 characters."""
    action: str
    """What was done, such as `key.created` or `deployment.promoted`."""
    actor: AuditEntryActor
    """Who did it."""
    target: AuditEntryTarget | None
    """What it was done to; null where it was nothing in particular."""
    ip: str | None
    """The address it came from; null where the service did it."""
    request_id: str | None
    """The `Request-Id` of the call; null where there was none."""
    details: dict[str, Any]
    """What changed, by the action; never a secret."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""


class Model(Resource):
    """A model that a deployment may choose."""
    object: Literal["model"]
    """Always `model`: what kind of object this is."""
    id: str
    """What `model` of a deployment takes."""
    provider: str
    """Whose model it is."""
    name: str
    """What people call it."""
    default: bool
    """Whether `default` means this one."""
    context_tokens: int
    """How many tokens fit into one call."""
    max_output_tokens: int
    """The longest answer that is asked for."""
    takes: list[ModelTake]
    """What may be sent to it besides text."""
    reasons: bool
    """Whether it thinks before it answers."""
    price: ModelPrice
    """What it costs."""
    priced: bool
    """False: its price is not known, `price` is what test mode counts it as, and live mode refuses it."""
    retires_on: str | None
    """The day its provider switches it off; null where that is not known."""
    replacement: str | None
    """The model its provider names in its place; null where none."""
    available: bool
    """Whether a deployment may choose it now."""
    unavailable_reason: str | None
    """Why not; null where it may."""


class Member(Resource):
    """A person who may use the console."""
    object: Literal["member"]
    """Always `member`: what kind of object this is."""
    id: str
    """The id of a member, `mbr_` and 24 characters."""
    email: str
    """The person’s email address, which they log in with."""
    name: str | None
    """What the person is called; null until they accepted."""
    role: MeMemberRole
    """`owner`: everything; `admin`: everything but what concerns owners; `developer`: configures and
    runs agents.
    """
    status: Literal["active", "invited"]
    """`invited` until the invitation was accepted."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""


class MemberWithInviteUrl(Member):
    invite_url: str
    """The link to send to the person; shown this once."""
    invite_expires_at: str
    """When the link stops working, as ISO 8601 in UTC."""


class PasswordReset(Resource):
    object: Literal["password_reset"]
    """Always `password_reset`: what kind of object this is."""
    email: str
    """The address to log in with."""


class PasswordResetWithMemberId(PasswordReset):
    member_id: str
    """Whose password it is."""
    reset_url: str
    """The link to send them; a link made before stops working."""
    reset_expires_at: str
    """Until when the link works."""


class ConsoleSession(Resource):
    """A member who is logged in."""
    object: Literal["console_session"]
    """Always `console_session`: what kind of object this is."""
    member: Member
    """Who is logged in."""
    org: ConsoleSessionOrg
    """The org that calls act in."""
    orgs: list[ConsoleSessionOrg2]
    """Every org that this person may choose with the header `Service-Org`."""
    mode: Literal["test", "live"]
    """The mode that calls act in; the header `Service-Mode` chooses it."""
    may: list[str]
    """Every operation that the member’s role may call, as `family.operation` of the route table."""
    has_password: bool
    """Whether a login with a password opened this session; false: the org’s own sign-in did."""
    csrf_token: str
    """Send it as `X-CSRF-Token` with every call that changes something."""
    expires_at: str
    """When the person must log in again, as ISO 8601 in UTC."""


class ConsoleAccount(Resource):
    """The person who is logged in, and how they sign in."""
    object: Literal["console_account"]
    """Always `console_account`: what kind of object this is."""
    member: Member
    """The person as a member of the org that the call names."""
    linked_identity: ConsoleAccountLinkedIdentity | None
    """The account at the org’s own sign-in that is linked with this member."""
    has_identity_provider: bool
    """Whether the org has a sign-in of its own, with which an account can be linked."""
    has_password: bool
    """Whether this session was opened by a login that has a password."""


class ConsoleSignIn(Resource):
    object: Literal["console_sign_in"]
    """Always `console_sign_in`: what kind of object this is."""
    ended: int
    """How many browsers were logged out."""


class ConsoleSignInWithId(Resource):
    """A browser in which the person is logged in."""
    object: Literal["console_sign_in"]
    """Always `console_sign_in`: what kind of object this is."""
    id: str
    """By what the sign-in is ended."""
    device: str
    """Browser and system in words, as far as the browser told."""
    ip: str | None
    """The address from which the person signed in."""
    is_current: bool
    """Whether this is the browser that asks."""
    created_at: str
    """When the person signed in."""
    last_seen_at: str
    """When it was last used, give or take ten minutes."""
    expires_at: str
    """When it ends by itself if it is not used until then."""


class SignInLink(Resource):
    object: Literal["sign_in_link"]
    """Always `sign_in_link`: what kind of object this is."""
    url: str
    """Where to send the browser now; it comes back to `/console/account`."""


class Passkey(Resource):
    object: Literal["passkey"]
    """Always `passkey`: what kind of object this is."""
    id: str
    """By what it is renamed and removed."""
    name: str
    """What the person calls it."""
    created_at: str
    """When it was registered."""
    last_used_at: str | None
    """When it last signed the person in."""


class PasskeyOptions(Resource):
    object: Literal["passkey_options"]
    """Always `passkey_options`: what kind of object this is."""
    options: PasskeyOptionsOptions
    """For `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`."""


class IdentityProvider(Resource):
    object: Literal["identity_provider"]
    """Always `identity_provider`: what kind of object this is."""
    issuer: str
    """The provider’s issuer, as its discovery document writes it."""
    client_id: str
    """What the provider calls this server."""
    allowed_domains: list[str]
    """The domains of emails that may sign in; no other email is taken."""
    default_role: MeMemberRole | None
    """What a person becomes who signs in for the first time; null: only invited people come in."""
    role_claim: str | None
    """The claim that decides the role on the first sign-in, such as `groups`."""
    roles_by_claim: dict[str, MeMemberRole]
    """The role for each value of that claim; of several the highest counts, and none leaves
    `default_role`.
    """
    password_sign_in: bool
    """Whether members who have linked the provider may still use a password or passkey here; owners
    always may.
    """
    has_client_secret: bool
    """Whether a client secret is kept; it is never shown."""
    sign_in_url: str
    """Where members begin: give them this address."""
    redirect_uri: str
    """What to allow at the provider as redirect address."""
    created_at: str
    """When it was first set."""
    updated_at: str
    """When it was last set."""


class Health(Resource):
    """Whether the server and its parts work."""
    object: Literal["health"]
    """Always `health`: what kind of object this is."""
    status: Literal["ok", "failing"]
    """`ok`, or `failing` with 503 while the server cannot take requests."""
    version: str
    """The version of the server."""
    checks: dict[str, HealthCheck]
    """By the name of a part, such as `database`: whether it works."""


class DeploymentWebhookSecret(Resource):
    endpoint_id: str
    """The id of a webhook endpoint, `whk_` and 24 characters."""
    url: str
    """The address that events are posted to."""
    secret: str
    """`whsec_…`: check signatures with it; shown this once."""


class DeploymentWarning(Resource):
    param: str
    """The dotted path of the field in the file."""
    message: str
    """What may be wrong with it, in a sentence."""


class DeploymentVersionManifest(Resource):
    """All its settings; they can be sent back as they are."""
    instructions: str
    """What the agent is, does and must not do, in your own words; at most 8,000 characters."""
    language: str
    """A language tag such as `en`, `hi` or `pt-BR` that it answers in, or `auto` to follow each user."""
    model: str
    """A model id of `GET /v1/models`, or `default` for the one that the server is set to."""
    apps: list[str] | Literal["all"]
    """Which apps users may connect: `all`, or the ids of `GET /v1/apps`."""
    approvals: list[DeploymentVersionManifestApproval]
    """Which kinds of action are marked and worded as such when a yes is asked for."""
    limits: DeploymentVersionManifestLimits
    """Where work and replies are stopped, in money, steps and minutes."""
    mcp_servers: list[DeploymentVersionManifestMcpServer]
    """Registered MCP servers that the agent may use."""
    mcp_tool_policy: dict[str, DeploymentVersionManifestMcpToolPolicy]
    """By the slug of a server: what this version adds to the server’s own lists."""
    tools: list[DeploymentVersionManifestTool]
    """Functions that your own code answers, at most 50."""
    skills: list[DeploymentVersionManifestSkillById | DeploymentVersionManifestSkillByName]
    """Skills of the org by `id` and built-in ones by `name`, at most 100."""
    notebooks: list[str]
    """Ids of the notebooks that the agent reads, at most 50."""
    memory: DeploymentVersionManifestMemory | None
    """Who keeps what is learnt of users; null: as the org has it."""
    environment: DeploymentVersionManifestEnvironment | None
    """How the agent’s computer is prepared; `computer` in the file."""
    browser: DeploymentVersionManifestBrowser | None
    """Which sites the user’s browser may open; null: a fetch opens nothing, and no page is closed to
    the agent.
    """


class DeploymentVersionManifestLimits(Resource):
    """Where work and replies are stopped, in money, steps and minutes."""
    per_task_usd: float | None = None
    """US dollars after which a piece of work is stopped with `max_budget`."""
    per_turn_usd: float | None = None
    """US dollars after which a reply is stopped with `max_budget`."""
    max_steps: int
    """Model calls after which work is stopped with `max_turns`."""
    max_minutes: int
    """Minutes of working, waiting left out, after which work is stopped with `max_turns`."""
    ask_above_usd: float | None = None
    """A paid tool that costs more than this asks first."""


class DeploymentVersionManifestMcpServer(Resource):
    id: str
    """The id of an MCP server, `mcp_` and 24 characters."""
    slug: str
    """What the agent knows the server by."""
    url: str
    """The address of the server."""


class DeploymentVersionManifestMcpToolPolicy(Resource):
    deny: list[str]
    """Tools of the server that the agent never calls."""
    require_approval: list[str]
    """Tools that always wait for a yes, also where the server marks them read-only."""
    run_without_asking: list[str]
    """Tools that never wait for a yes."""
    approver: Literal["user", "org"]
    """Who says yes where a call waits: the user, or the org by a key or a member."""


class DeploymentVersionManifestTool(Resource):
    function: str
    """What the agent calls the function by: lowercase letters, digits and underscores."""
    description: str
    """What it does and when to call it: the agent decides by this, and a person reads its first
    sentence when asked.
    """
    input: dict[str, Any]
    """Argument names and types such as `string`, `integer?`, `string[]`, `small|large`; or a JSON
    Schema of type object
    """
    timeout_s: int
    """Seconds that the agent waits for the answer of your code."""
    read_only: bool
    """True: a lookup that changes nothing; it is called without waiting for a yes."""
    run_without_asking: bool
    """True: it changes something and is called without waiting for a yes."""
    approver: Literal["user", "org"]
    """Who says yes where a call waits: the user, or the org by a key or a member."""


class DeploymentVersionManifestSkillById(Resource):
    id: str
    """The id of a skill of the org, `skl_` and 24 characters."""


class DeploymentVersionManifestSkillByName(Resource):
    name: str
    """The name of a skill that comes with the service, as `GET /v1/skills?source=built_in` lists it."""


class DeploymentVersionManifestEnvironment(Resource):
    """The agent’s computer, prepared before its first task."""
    setup: str | None = None
    """A shell script that runs once on each computer; the CLI and the SDK also take the name of a
    local file.
    """
    repos: list[str | DeploymentVersionManifestEnvironmentRepo]
    """Git repositories that are cloned before the first task, at most 10."""
    env: dict[str, str]
    """Environment variables of the computer; a credential is written `${NAME}`."""
    files: list[DeploymentVersionManifestEnvironmentFile]
    """Uploaded files that are put there, at most 50."""


class DeploymentVersionManifestEnvironmentRepo(Resource):
    url: str
    """The repository as `host/owner/repo`, or its https address."""
    ref: str | None = None
    """Branch, tag or commit; absent: `main`."""
    path: str | None = None
    """The folder it is cloned into; absent: the name of the repository."""
    token: str | None = None
    """A secret of the company such as `${GIT_TOKEN}` that may read it, never the value itself."""


class DeploymentVersionManifestEnvironmentFile(Resource):
    file_id: str
    """The id of a file, `file_` and 24 characters."""
    path: str
    """Where the file is put, relative to the home folder."""


class DeploymentVersionManifestBrowser(Resource):
    allowed_domains: list[str] | None = None
    """Hosts that the user’s browser may open, each with its `www.` form; without any, a fetch opens
    nothing and the agent any public site.
    """
    blocked_paths: list[str] | None = None
    """Sites with the start of a path, such as `example.com/account`, that are never opened or shown."""


class DeploymentVersionTests(Resource):
    run_id: str
    """The id of a test run, `trun_` and 24 characters."""
    status: DeploymentVersionTestsStatus
    """How that run stands or ended."""


class DeploymentVersionCreatedBy(Resource):
    """Who saved it."""
    type: DeploymentVersionCreatedByType
    """Whether a key, a member of the console, an MCP client of a member or the service itself did."""
    id: str
    """The id of that key or member."""
    name: str
    """What that key or member is called."""


class TestRunCounts(Resource):
    """How many scenarios are in each state."""
    total: int
    """All scenarios of the run."""
    queued: int
    """Scenarios that have not begun."""
    running: int
    """Scenarios that are being played or judged."""
    passed: int
    """Scenarios that passed."""
    failed: int
    """Scenarios that failed."""
    error: int
    """Scenarios that could not be decided."""


class TestRunResult(Resource):
    scenario_id: str
    """The id of a scenario, `scn_` and 24 characters."""
    name: str
    """What the scenario was called when it was played."""
    status: DeploymentVersionTestsStatus
    """`passed` only where every criterion was met and nothing forbidden happened."""
    criteria: list[TestRunResultCriteria]
    """The verdict on each success criterion."""
    must_never: list[TestRunResultMustNever]
    """The verdict on each thing that must never happen."""
    judged_by: str | None
    """The model that judged; `offline` is the stand-in, which only matches words. Null before that."""
    conversation_id: str | None
    """The conversation that was played; null before it began."""
    transcript: list[TestRunResultTranscript]
    """What was said; empty in lists."""
    duration_ms: int
    """How long it took in milliseconds."""
    cost_usd: float
    """What playing and judging it was billed, in US dollars."""
    error_code: str | None
    """Why it could not be decided; null where it was."""
    error_message: str | None
    """What the code means here, such as which tool server was away; null where there is none."""


class TestRunResultCriteria(Resource):
    text: str
    """The criterion itself."""
    met: bool
    """Whether the judge found it met."""
    decided: bool
    """Whether the judge could tell. What it could not tell is neither met nor broken."""
    reason: str
    """Why the judge thinks so."""


class TestRunResultMustNever(Resource):
    text: str
    """What must never happen."""
    broken: bool
    """Whether the judge found that it did happen."""
    decided: bool
    """Whether the judge could tell. What it could not tell is neither met nor broken."""
    reason: str
    """Why the judge thinks so."""


class TestRunResultTranscript(Resource):
    role: TestRunResultTranscriptRole
    """Who said it: the pretend `user`, the `agent`, or `work`."""
    text: str
    """What was said."""


class ContentChangesChange(Resource):
    kind: Literal["document", "skill_file"]
    """A document of a notebook, or a file of a skill."""
    of_id: str
    """The id of that notebook or skill."""
    of_name: str
    """What that notebook or skill is called."""
    name: str
    """The title of the document, or the path of the file."""
    change: ContentChangesChangeChange
    """What became of it from the one version to the other."""
    before: str | None
    """Its text in `from`; null where it was not in it, or is left out."""
    after: str | None
    """Its text in `version`; null where it is not in it, or is left out."""
    text_left_out: bool
    """Whether its texts are left out, because all together are too much."""


class InterviewFile(Resource):
    name: str
    """The slug of the deployment."""


class ScenarioRecordedCall(Resource):
    tool: str
    """The tool, as `tool_results` names it."""
    arguments: dict[str, Any]
    """The arguments of the call."""
    result: Any
    """What the tool answers to them: text, or any JSON."""
    is_error: bool | None = None
    """True: the tool fails with this answer."""


class TestRunEventDataByStatus(Resource):
    status: DeploymentVersionTestsStatus
    """How the run stands."""
    counts: TestRunCounts
    """How many scenarios are in each state."""
    note: str | None
    """What a reader should know besides the results, such as that the run waits for an index."""
    cost_usd: float
    """What the run was billed so far, in US dollars."""
    results: list[TestRunResult]
    """The results that have changed since the event before."""


class TestRunEventDataByTestRun(Resource):
    test_run: TestRun
    """The whole run with every result."""


class ReplayCounts(Resource):
    """How many talks are in each state."""
    total: int
    """All talks of the replay."""
    queued: int
    """Talks that have not begun."""
    running: int
    """Talks that are being replayed or compared."""
    same: int
    """Talks in which nothing of weight differs."""
    different: int
    """Talks in which an answer or a call of a tool differs."""
    failed: int
    """Talks that could not be replayed to their end."""


class ReplayTalk(Resource):
    conversation_id: str
    """The real talk."""
    user_id: str | None
    """Whose talk it is; null: the org’s own."""
    status: ReplayTalkStatus
    """`same` only where every exchange is; `failed` where one could not be played."""
    replayed_conversation_id: str | None
    """The talk as it was replayed; null before it began."""
    exchanges: list[ReplayTalkExchange]
    """Both sides of each message; empty in lists and until the talk has been replayed."""
    judged_by: str | None
    """The model that compared the answers; null where words alone were compared."""
    duration_ms: int
    """How long it took in milliseconds."""
    cost_usd: float
    """What replaying and comparing it was billed, in US dollars."""
    error_code: str | None
    """Why it could not be replayed; null where it was."""
    error_message: str | None
    """What the code means here; null where there is nothing to add."""


class ReplayTalkExchange(Resource):
    turn_id: str
    """The turn of the real talk."""
    message: str
    """What the person said."""
    before: ReplayTalkExchangeBefore
    """As it was then."""
    after: ReplayTalkExchangeAfter | None
    """As the replayed version does it; null where it did not come so far."""
    result: ReplayTalkExchangeResult
    """`same`: the same calls, and an answer of the same words or, says the judge, the same meaning."""
    reason: str | None
    """Why it counts as that; null where both are the same word for word."""


class ReplayTalkExchangeBefore(Resource):
    """As it was then."""
    version: int
    """The version that answered."""
    text: str
    """What it answered, work included."""
    calls: list[ReplayTalkExchangeBeforeCall]
    """The tools that it called, in their order."""


class ReplayTalkExchangeBeforeCall(Resource):
    tool: str
    """The tool as the model knows it."""
    arguments: Any
    """What it was asked, without credentials."""
    is_error: bool
    """Whether it failed."""
    is_matched: bool
    """Whether the other side made a call of the same tool with the same arguments."""


class ReplayTalkExchangeAfter(Resource):
    version: int
    """The version that answered."""
    text: str
    """What it answered, work included."""
    calls: list[ReplayTalkExchangeBeforeCall]
    """The tools that it called, in their order."""


class NotebookAccessAll(Resource):
    mode: Literal["all"]
    """`all`: the agent reads it for every user."""


class NotebookAccessUsers(Resource):
    mode: Literal["users"]
    """`users`: the agent reads it for the named users alone."""
    user_ids: list[str]
    """Your ids of the users, 1 to 1,000."""


class SkillFile(Resource):
    path: str
    """Where it lies in the skill."""
    bytes: int
    """Its size in bytes."""
    content: str
    """What is in the file."""


class McpServerAuthNone(Resource):
    type: Literal["none"]
    """`none`: it is called without credentials."""


class McpServerAuthHeaders(Resource):
    type: Literal["headers"]
    """`headers`: these headers are sent with every call."""
    headers: dict[str, str]
    """Header names and values; a credential is written `${secret:NAME}` or `${user_secret:NAME}`,
    never as itself.
    """


class McpServerTools(Resource):
    """The floor for every deployment in both modes: a version may add to it and never take away."""
    deny: list[str]
    """Tools that no agent ever calls."""
    require_approval: list[str]
    """Tools that always wait for a yes."""


class ConversationOpenWork(Resource):
    task_id: str
    """The id of a piece of work, `task_` and 24 characters."""
    title: str | None
    """What the work is about; null until it is named."""
    status: ConversationOpenWorkStatus
    """How far this piece of work is."""


class ConversationOpenInteraction(Resource):
    interaction_id: str
    """The id of an interaction, `int_` and 24 characters."""
    task_id: str | None
    """The work that waits; null where the reply does."""
    kind: ConversationOpenInteractionKind
    """What made it wait, as in the interaction itself."""


class ConversationPendingToolCall(Resource):
    """A call of one of your functions that waits for its result."""
    call_id: str
    """The id of a call of one of your own functions, `call_` and 24 characters."""
    name: str
    """The function that is called."""
    arguments: Any
    """What it is called with; it fits the function’s own schema."""
    task_id: str | None
    """The work that calls it; null where the reply itself does."""
    progress: str | None = None
    """What whoever answers it said last of how far it is."""


class ConversationCostBreakdown(Resource):
    """The same money, by what it was spent on."""
    orchestrator: float
    """Spent on the model calls of replies."""
    intelligence: float
    """Spent on the model calls of work."""
    tools: float
    """Spent on paid tools."""
    compute: float
    """Spent on the time of computers and browsers."""
    background: float
    """Spent on what happens besides, such as memory and searching by meaning."""
    voice: float
    """Spent on voice calls."""


class TurnReply(Resource):
    text: str
    """What the agent answered, as Markdown."""
    data: Any
    """The structured value that `output_schema` asked for; null where none was."""
    truncated: Literal[True] | None = None
    """The model ran into its limit of length: the text ends there."""


class TurnError(Resource):
    code: str
    """The exact cause: an error code, or how work was ended, such as `stopped` or `max_budget`."""
    message: str
    """The cause as a sentence; it may change, so branch on `code`."""


class MessageAttachment(Resource):
    file_id: str
    """The id of a file, `file_` and 24 characters."""
    filename: str
    """What the file is called."""


class TaskProgress(Resource):
    content: str
    """One step of the plan."""
    status: TaskProgressStatus
    """How far this step is."""


class TaskResult(Resource):
    """What came of it; empty until it has ended."""
    text: str | None
    """The final reply; cut to 280 characters in lists."""
    data: Any
    """The structured value that `output_schema` asked for; null where none was."""
    truncated: Literal[True] | None = None
    """The model ran into its limit of length: the text ends there."""


class TaskOutcome(Resource):
    met: bool
    """Whether everything that was asked for was reached."""
    reason: str
    """Why the judge thinks so, in a sentence or two."""


class TaskError(Resource):
    code: str
    """The exact cause: an error code, or how work was ended, such as `stopped` or `max_budget`."""
    message: str
    """The cause as a sentence; it may change, so branch on `code`."""


class InteractionQuestion(Resource):
    question: str
    """The question itself."""
    header: str
    """A word or two above it; may be empty."""
    options: list[str]
    """Answers to choose from; empty: any text."""
    multi_select: bool
    """Whether several options may be chosen, joined by a comma."""


class InteractionBrowser(Resource):
    """Of a hand-off in the browser: open a session with a screen so that a person can do it."""
    suggested_mode: Literal["control"]
    """The `screen` to open the session with."""
    url: str | None
    """The page it is about; null where none is open."""


class InteractionDetails(Resource):
    """What it is about, by the type."""
    tool_name: str | None = None
    """The tool or function that is called."""
    server: str | None = None
    """The slug of that server, or the id of the app."""
    category: DeploymentVersionManifestApproval | None = None
    """Which of the deployment’s `approvals` it is."""
    price_usd: float | None = None
    """What the call costs, in US dollars."""
    description: str | None = None
    """The first sentence of the tool’s description."""
    rows: list[InteractionDetailsRow] | None = None
    """The arguments of a call, or the steps of a plan."""
    more_rows: int | None = None
    """How many arguments are not among the rows."""
    title: str | None = None
    """The title of a plan."""
    question: str | None = None
    """What is approved in person, in full."""
    reason: str | None = None
    """What the agent needs the app for."""
    message: str | None = None
    """Of a limit that ended work: what it says."""
    renderer: str | None = None
    """A special form of the type, such as `ability_install`."""
    asked_by: Literal["server"] | None = None
    """Present where an MCP server asks, in the middle of a call."""
    mode: Literal["form", "url"] | None = None
    """Whether it asks for values, or for the person to open an address."""
    app: str | None = None
    """The id of the app to connect."""
    name: str | None = None
    """The app’s name for people."""
    connect: InteractionDetailsConnect | None = None
    """The call that begins the sign-in; its answer has the address, which is good for 15 minutes."""
    asks_for_value: bool | None = None
    """They tell a value: it is answered with `answers`."""
    asks_for_secret: bool | None = None
    """They enter a password, a code or card details: the screen is private."""
    url: str | None = None
    """The address that an MCP server asks the person to open."""
    host: str | None = None
    """The host of that address."""
    declared_by: Literal["message"] | None = None
    """Set where a message’s `tools` declared the function, and not the deployment."""


class InteractionDetailsRow(Resource):
    label: str
    """The name of an argument, or the number of a step."""
    title: str | None = None
    """What the argument’s schema calls it before people."""
    value: str
    """The value as text, cut where it is long."""


class InteractionDetailsConnect(Resource):
    """The call that begins the sign-in; its answer has the address, which is good for 15 minutes."""
    route: str
    """The route that begins the sign-in."""
    body: InteractionDetailsConnectBody
    """The body to send to it."""


class InteractionDetailsConnectBody(Resource):
    """The body to send to it."""
    app: str
    """The id of the app."""
    user_id: str | None = None
    """Whose app it is; absent: the org’s."""


class InteractionOutcome(Resource):
    decision: InteractionOutcomeDecision
    """What was decided, or that nobody did in time."""
    answers: list[str] | None = None
    """The answers in the order of the questions."""
    reason: str | None = None
    """Why, where the one who answered said so."""
    message: str | None = None
    """What the agent was told of it."""


class TurnTraceStep(Resource):
    """A tool that was called, and what came of it."""
    tool_use_id: str
    """What the model called this call; unique within the trace."""
    name: str | None
    """The tool that was called; null where the model named none."""
    input_summary: str | None
    """One line about what it was called with, never the raw input."""
    output_summary: str | None
    """One line about what came back; null while it runs."""
    is_error: bool
    """Whether the tool answered with an error."""
    started_at: str
    """When it was called, as ISO 8601 in UTC."""
    finished_at: str | None
    """When it answered; null while it runs."""
    duration_ms: int | None
    """How long it took in milliseconds; null while it runs."""
    media: list[TurnTraceStepMedia] | None = None
    """Pictures and recordings that the tool answered with."""


class TurnTraceStepMedia(Resource):
    media_type: str
    """What it is, such as `image/png`."""
    bytes: int
    """Its size in bytes."""
    width: int | None
    """Pixels from left to right; null where it is no picture."""
    height: int | None
    """Pixels from top to bottom; null where it is no picture."""
    url: str | None = None
    """Where to fetch it for the next 15 minutes; in a trace alone."""


class TurnTraceTurn(Resource):
    turn_id: str
    """The turn that the call was made for."""
    model: str | None
    """The model that answered; null where none did."""
    input_tokens: int
    """Tokens that the model read anew, without those of the provider’s cache."""
    output_tokens: int
    """Tokens that the model wrote."""
    cache_read_tokens: int
    """Tokens that came from the provider’s cache, at its lower price."""
    cache_write_tokens: int
    """Tokens that the provider read and put into its cache."""
    cache_share: float
    """How much of what the call has read came from the cache of its provider: 0 to 1."""
    cost_usd: float
    """What this call was billed, in US dollars."""
    duration_ms: int | None
    """How long it took in milliseconds; null where that is not known."""
    status: str | None
    """What the call was for and how it ended: `completed`, `summarised`, `judged`, `stopped` or
    `failed`.
    """
    error: str | None
    """Why the call failed, with the status that the provider answered; null unless it failed."""
    started_at: str
    """When it was called, as ISO 8601 in UTC."""


class TurnTraceTotals(Resource):
    """All that was charged for it, tools and the computer included."""
    input_tokens: int
    """Tokens that were read."""
    output_tokens: int
    """Tokens that were written."""
    cost_usd: float
    """What they were billed, in US dollars."""


class TurnTraceMissingTool(Resource):
    server: str
    """The slug of the server, or the id of the app."""
    reason: TurnTraceMissingToolReason
    """Why they could not be had."""
    message: str
    """The same in a sentence for whoever runs the deployment."""


class ScenarioDraftScenario(Resource):
    """Can be sent to `POST …/scenarios` as it is."""
    name: str
    """What the test is called."""
    persona: str
    """Who the pretend user is and how they talk."""
    goal: str
    """What the pretend user wants, in their own words."""
    success_criteria: list[str]
    """What must be true at the end; every line must be met."""
    must_never: list[str]
    """What must never happen; any line fails the test."""
    tool_results: dict[str, Any] | None = None
    """What tools answer in this test, by the name of the tool or `<server slug>.<tool>`."""
    recorded_calls: list[ScenarioRecordedCall] | None = None
    """What tools answer to certain arguments, before `tool_results` is looked at."""
    approves: bool | None = None
    """Whether the pretend user says yes to tools of the deployment’s MCP servers; absent: no."""


class ScenarioDraftPersonal(Resource):
    kind: ScenarioDraftPersonalKind
    """What it looks like; `user`: what you have told of the user, `other`: what the model pointed out."""
    value: str
    """The value as it stands in the draft."""
    fields: list[str]
    """The fields of the draft that hold it."""


class MessageFeedbackRater(Resource):
    """Who rated it."""
    type: MessageFeedbackRaterType
    """A user by a session, a console member, or a key."""
    id: str | None
    """Which one; null for a session without a user."""


class FeedbackCount(Resource):
    version: int
    """The version that gave the answers."""
    good: int
    """How often an answer was called good."""
    bad: int
    """How often an answer was called bad."""


class FunctionEndpointLastFailure(Resource):
    message: str
    """What went wrong, in a sentence."""
    at: str
    """When that was, as ISO 8601 in UTC."""


class TaskTraceTotals(Resource):
    """All that was charged for it, tools and the computer included."""
    input_tokens: int
    """Tokens that were read."""
    output_tokens: int
    """Tokens that were written."""
    cost_usd: float
    """What they were billed, in US dollars."""


class TaskTraceMissingTool(Resource):
    server: str
    """The slug of the server, or the id of the app."""
    reason: TurnTraceMissingToolReason
    """Why they could not be had."""
    message: str
    """The same in a sentence for whoever runs the deployment."""


class BatchCounts(Resource):
    """How many items are in each state."""
    queued: int
    """Items that have not begun."""
    running: int
    """Items that are being worked on or wait for a person."""
    succeeded: int
    """Items whose work is done."""
    failed: int
    """Items whose work failed or could not begin."""
    cancelled: int
    """Items that a cancel kept from beginning."""


class BatchItemResult(Resource):
    reply: str
    """The one line an item gets when it is taken."""
    text: str | None
    """The final reply of the work."""
    data: Any
    """The structured value of the work; null where there is none."""
    outcome: BatchItemResultOutcome | None
    """Whether success criteria were met; null where there were none."""


class BatchItemResultOutcome(Resource):
    met: bool
    """Whether everything that was asked for was reached."""
    reason: str
    """Why the judge thinks so, in a sentence or two."""


class BatchItemError(Resource):
    code: str
    """The exact cause: an error code, or how work was ended, such as `stopped` or `max_budget`."""
    message: str
    """The cause as a sentence; it may change, so branch on `code`."""


class RoutineSchedule(Resource):
    every: str | None
    """The plain words it was given in; null where it was given as cron."""
    cron: str
    """The same as five cron fields."""
    timezone: str
    """The IANA time zone that the schedule is read in."""


class RoutineTrigger(Resource):
    filters: dict[str, Any] | None
    """Fields and values a payload must carry; null: any payload runs it."""


class RoutineLastError(Resource):
    code: str
    """The exact cause: an error code, or how work was ended, such as `stopped` or `max_budget`."""
    message: str
    """The cause as a sentence; it may change, so branch on `code`."""
    at: str
    """When that was, as ISO 8601 in UTC."""


class RoutineRun2(Resource):
    """Where the run can be followed."""
    conversation_id: str
    """The id of a conversation, `conv_` and 24 characters."""
    turn_id: str
    """The id of a turn: a message and what came of it, `turn_` and 24 characters."""


class UserCapsRemaining(Resource):
    """What may still be spent: the smaller of the user’s and the org’s cap."""
    day_usd: float | None
    """US dollars left today; null where no cap counts."""
    month_usd: float | None
    """US dollars left this month; null where no cap counts."""


class BrowserFetchCapture(Resource):
    match: str
    """The `match` that it was captured by."""
    url: str
    """The address that the page called."""
    status: int
    """The HTTP status of that call."""
    content_type: str
    """What kind of content came."""
    body: Any
    """The body: a value where it was JSON, else text."""
    truncated: bool
    """Whether the body was longer than 1 MB and is cut."""


class BrowserFetchStep(Resource):
    kind: BrowserFetchStepKind
    """What the step was to do."""
    ok: bool
    """Whether it could be done."""
    duration_ms: int
    """How long it took in milliseconds."""
    result: Any
    """Of a `page_fetch` what came back; null otherwise."""


class BrowserFetchTimings(Resource):
    """Where the time went."""
    wake_ms: int
    """Milliseconds until the computer was awake."""
    open_ms: int
    """Milliseconds until the page was open."""
    capture_ms: int
    """Milliseconds until every required capture had come."""
    total_ms: int
    """Milliseconds of the whole fetch."""


class BrowserFetchFrame(Resource):
    milestone: str
    """What had just happened, such as `opened` or `answered`."""
    at_ms: int
    """Milliseconds after the fetch began."""
    image: str
    """The page as a JPEG data URI."""


class BrowserCookiesCookie(Resource):
    name: str
    """What the cookie is called."""
    domain: str
    """The site that set it."""
    expires_at: str | None
    """When it ends; null: with the browser’s session."""


class SessionOpening(Resource):
    message: str | None = None
    """What the page says before anything was said; absent where nothing."""
    suggestions: list[str]
    """Questions that the person sends with one click."""


class SessionIceServer(Resource):
    urls: list[str]
    """Addresses such as `turn:turn.example.com:3478`."""
    username: str | None = None
    """Of a TURN server, good until the session ends."""
    credential: str | None = None
    """The password that goes with it."""


class McpGrantClient(Resource):
    """The client that was let in."""
    name: str
    """What the client calls itself."""
    address: str
    """The host that answers for the client, or the scheme of its links."""
    is_verified: bool
    """Whether that host itself says what the client is called; otherwise the name is a mere claim."""


class McpGrantMember(Resource):
    """The member who let it in, and for whom it acts."""
    id: str
    """The id of a member, `mbr_` and 24 characters."""
    name: str
    """The member’s name, or their email where they have given none."""


class AppSignIn(Resource):
    client: AppSignInClient
    """Who gave the OAuth client that people sign in with; `automatic`: this server makes itself known;
    `missing`: the app takes only clients that were registered by hand, and none was given yet.
    """
    register_at: str | None
    """Where a company registers a client of its own with the app; null where it is not known."""
    redirect_uri: str
    """The redirect address to enter there."""
    note: str | None
    """What else to know when registering a client."""


class AppApiKey(Resource):
    note: str | None
    """Where a user finds or makes a key."""


class OpenaiChatCompletionChoice(Resource):
    index: int
    """Always 0: there is one answer."""
    message: OpenaiChatCompletionChoiceMessage
    """What the agent said, and which functions of yours it calls."""
    finish_reason: str
    """Why it ended: `stop`, `length`, or `tool_calls` where your functions are called."""


class OpenaiChatCompletionChoiceMessage(Resource):
    """What the agent said, and which functions of yours it calls."""
    pass


class OpenaiChatCompletionUsage(Resource):
    """Tokens of all model calls that it took."""
    prompt_tokens: int
    """Tokens that models read."""
    completion_tokens: int
    """Tokens that models wrote."""
    total_tokens: int
    """Both together."""


class OpenaiResponseConversation(Resource):
    """The conversation that it is part of."""
    id: str
    """The id of the conversation, `conv_…`."""


class OpenaiResponseOutput(Resource):
    type: str
    """What kind of item it is."""


class MeOrg(Resource):
    """The org that the call acts in."""
    id: str
    """The id of an org, `org_` and 24 characters."""
    name: str
    """What the org is called."""
    status: str
    """`active`; anything else: it is switched off."""


class MeKey(Resource):
    id: str
    """The id of an API key, `key_` and 24 characters."""
    name: str
    """What the key is called."""
    last4: str
    """The last four characters of the key."""


class MeMember(Resource):
    role: MeMemberRole
    """What the member may do in this org."""


class OrgOpening(Resource):
    message: str | None = None
    """What the page says before anything was said; absent where nothing."""
    suggestions: list[str]
    """Questions that the person sends with one click."""


class OrgCaps(Resource):
    """How much may be spent."""
    org_daily_usd: float | None
    """US dollars a day (UTC) for the whole org; null: none."""
    user_daily_usd: float | None
    """US dollars a day (UTC) for each user; null: none."""
    max_org_daily_usd: float
    """The most that `org_daily_usd` may be set to; the operator’s to change."""
    org_monthly_usd: float | None
    """US dollars a calendar month (UTC) for the whole org; null: none."""
    user_monthly_usd: float | None
    """US dollars a calendar month (UTC) for each user; null: none."""


class OrgUsageAlerts(Resource):
    """When spending is told of."""
    thresholds: list[int]
    """Percentages of a cap at which `usage.threshold_reached` is sent, at most 5; 100 is always told."""


class McpAuthorizationClient(Resource):
    """Who asks."""
    name: str
    """What the client calls itself."""
    address: str
    """The host that answers for the client, or the scheme of its links."""
    is_verified: bool
    """Whether that host itself says what the client is called; otherwise the name is a mere claim."""


class McpAuthorizationGoesTo(Resource):
    """Who gets the access: where the browser is sent with the answer."""
    kind: McpAuthorizationGoesToKind
    """Whether a web site, a program on this computer or an app that opens such links gets the access."""
    address: str
    """Its host, or the scheme of its links."""


class McpAuthorizationRefusal(Resource):
    message: str
    """What is wrong with the request."""
    return_url: str
    """Where the browser tells the client so."""


class LimitsUsageAlerts(Resource):
    """When spending is told of."""
    thresholds: list[int]
    """Percentages of a cap at which `usage.threshold_reached` is sent, at most 5; 100 is always told."""


class LimitsRateLimits(Resource):
    """How often a key may call."""
    requests_per_minute: int
    """Requests a minute that each key may make."""
    burst: int
    """Requests that may come at once."""


class AuditEntryActor(Resource):
    """Who did it."""
    type: AuditEntryActorType
    """Whether it was a key, a member of the console, an MCP client of a member, a session or the
    service itself.
    """
    id: str
    """The id of that key, member, grant or session."""
    name: str
    """What that key or member is called; of an MCP client the member and the client."""


class AuditEntryTarget(Resource):
    type: str
    """What kind of thing it is."""
    id: str
    """The id of that thing."""


class ModelPrice(Resource):
    """What it costs."""
    input_per_mtok: float
    """US dollars for a million tokens read."""
    output_per_mtok: float
    """US dollars for a million tokens written."""
    cache_read_per_mtok: float
    """US dollars for a million tokens read from the provider’s cache."""
    cache_write_per_mtok: float
    """US dollars for a million tokens put into the provider’s cache."""
    cache_write_long_per_mtok: float
    """US dollars for a million tokens put there for the longer time that the provider offers."""
    above: ModelPriceAbove | None
    """What a whole call costs that reads more than so many tokens."""


class ModelPriceAbove(Resource):
    input_tokens: int
    """The number of tokens read above which these prices count."""
    input_per_mtok: float
    """US dollars for a million tokens read."""
    output_per_mtok: float
    """US dollars for a million tokens written."""
    cache_read_per_mtok: float
    """US dollars for a million tokens read from the provider’s cache."""
    cache_write_per_mtok: float
    """US dollars for a million tokens put into the provider’s cache."""
    cache_write_long_per_mtok: float
    """US dollars for a million tokens put there for the longer time that the provider offers."""


class ConsoleSessionOrg(Resource):
    """The org that calls act in."""
    id: str
    """The id of an org, `org_` and 24 characters."""
    name: str
    """What the org is called."""
    status: str
    """`active`; anything else: it is switched off."""


class ConsoleSessionOrg2(Resource):
    id: str
    """The id of an org, `org_` and 24 characters."""
    name: str
    """What the org is called."""
    status: str
    """`active`; anything else: it is switched off."""
    role: MeMemberRole
    """What the person may do in that org."""


class ConsoleAccountLinkedIdentity(Resource):
    issuer: str
    """The issuer of the identity provider."""
    email: str
    """The email that the provider vouched for."""
    created_at: str
    """When it was linked."""


class PasskeyOptionsOptions(Resource):
    """For `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`."""
    challenge: str
    """What the device signs."""


class HealthCheck(Resource):
    status: Literal["ok", "failing"]
    """Whether this part works."""
    message: str | None
    """What is wrong with it; null where nothing is."""


class TurnStartedEvent(Resource):
    """A message was taken and its turn has begun."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["turn.started"]
    """Always `turn.started`: it decides what `data` holds."""
    data: TurnStartedData
    """What it is about, as it was at that moment."""


class TurnStartedData(Resource):
    """What it is about, as it was at that moment."""
    turn: Turn
    """What happened to one message, from its sending to the final answer."""


class ReplyDeltaEvent(Resource):
    """The next piece of a reply that is being written."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["reply.delta"]
    """Always `reply.delta`: it decides what `data` holds."""
    data: ReplyDeltaData
    """What it is about, as it was at that moment."""


class ReplyDeltaData(Resource):
    """What it is about, as it was at that moment."""
    text: str
    """The next piece of the reply: append it to what came before."""
    message_id: str
    """The id of a message, `msg_` and 24 characters."""


class ReplyCompletedEvent(Resource):
    """A reply, or the summary of work, is whole and is a message now."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["reply.completed"]
    """Always `reply.completed`: it decides what `data` holds."""
    data: ReplyCompletedData
    """What it is about, as it was at that moment."""


class ReplyCompletedData(Resource):
    """What it is about, as it was at that moment."""
    message: Message
    """Something that was said in a conversation."""


class TurnFailedEvent(Resource):
    """A turn ended without an answer; `error` says why."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["turn.failed"]
    """Always `turn.failed`: it decides what `data` holds."""
    data: TurnFailedData
    """What it is about, as it was at that moment."""


class TurnFailedData(Resource):
    """What it is about, as it was at that moment."""
    turn: Turn
    """What happened to one message, from its sending to the final answer."""


class TurnSettledEvent(Resource):
    """A turn came to its end: answered, failed or stopped."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["turn.settled"]
    """Always `turn.settled`: it decides what `data` holds."""
    data: TurnSettledData
    """What it is about, as it was at that moment."""


class TurnSettledData(Resource):
    """What it is about, as it was at that moment."""
    turn: Turn
    """What happened to one message, from its sending to the final answer."""


class TaskStartedEvent(Resource):
    """A piece of work was begun."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["task.started"]
    """Always `task.started`: it decides what `data` holds."""
    data: TaskStartedData
    """What it is about, as it was at that moment."""


class TaskStartedData(Resource):
    """What it is about, as it was at that moment."""
    task: Task
    """One longer piece of work."""


class TaskProgressEvent(Resource):
    """The plan of a piece of work, or its title, has changed."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["task.progress"]
    """Always `task.progress`: it decides what `data` holds."""
    data: TaskProgressData
    """What it is about, as it was at that moment."""


class TaskProgressData(Resource):
    """What it is about, as it was at that moment."""
    title: str | None
    """What it is about in a few words; null until it is named."""
    progress: list[TaskProgressDataProgress]
    """Its plan, step by step; empty where it made none."""


class TaskProgressDataProgress(Resource):
    content: str
    """One step of the plan."""
    status: TaskProgressStatus
    """How far this step is."""


class TaskStepEvent(Resource):
    """A tool was called within work, or has answered."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["task.step"]
    """Always `task.step`: it decides what `data` holds."""
    data: TaskStepData
    """What it is about, as it was at that moment."""


class TaskStepData(Resource):
    """What it is about, as it was at that moment."""
    step: TurnTraceStep
    """A tool that was called, and what came of it."""


class TaskCompletedEvent(Resource):
    """A piece of work is done."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["task.completed"]
    """Always `task.completed`: it decides what `data` holds."""
    data: TaskCompletedData
    """What it is about, as it was at that moment."""


class TaskCompletedData(Resource):
    """What it is about, as it was at that moment."""
    task: Task
    """One longer piece of work."""


class TaskFailedEvent(Resource):
    """A piece of work failed."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["task.failed"]
    """Always `task.failed`: it decides what `data` holds."""
    data: TaskFailedData
    """What it is about, as it was at that moment."""


class TaskFailedData(Resource):
    """What it is about, as it was at that moment."""
    task: Task
    """One longer piece of work."""


class TaskStoppedEvent(Resource):
    """A piece of work was ended by a limit, a policy, a caller or a person."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["task.stopped"]
    """Always `task.stopped`: it decides what `data` holds."""
    data: TaskStoppedData
    """What it is about, as it was at that moment."""


class TaskStoppedData(Resource):
    """What it is about, as it was at that moment."""
    task: Task
    """One longer piece of work."""
    reason: str | None = None
    """What stopped it: `max_turns`, `max_budget`, `credits_exhausted` or `hook_blocked`; absent where
    a caller or a person did.
    """
    message: str | None = None
    """The same in a sentence; absent where a caller or a person stopped it."""


class InteractionCreatedEvent(Resource):
    """The agent waits for an approval, an answer, a hand-off, a connection or a function of yours."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["interaction.created"]
    """Always `interaction.created`: it decides what `data` holds."""
    data: InteractionCreatedData
    """What it is about, as it was at that moment."""


class InteractionCreatedData(Resource):
    """What it is about, as it was at that moment."""
    interaction: Interaction
    """Something that the agent waits on."""


class InteractionResolvedEvent(Resource):
    """What the agent waited for was answered, withdrawn or too old."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["interaction.resolved"]
    """Always `interaction.resolved`: it decides what `data` holds."""
    data: InteractionResolvedData
    """What it is about, as it was at that moment."""


class InteractionResolvedData(Resource):
    """What it is about, as it was at that moment."""
    interaction: Interaction
    """Something that the agent waits on."""


class ToolCallCreatedEvent(Resource):
    """The agent calls a function of yours: answer it."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["tool_call.created"]
    """Always `tool_call.created`: it decides what `data` holds."""
    data: ToolCallCreatedData
    """What it is about, as it was at that moment."""


class ToolCallCreatedData(Resource):
    """What it is about, as it was at that moment."""
    call: ConversationPendingToolCall
    """A call of one of your functions that waits for its result."""


class ToolCallProgressEvent(Resource):
    """Whoever carries out a function said how far it is."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["tool_call.progress"]
    """Always `tool_call.progress`: it decides what `data` holds."""
    data: ToolCallProgressData
    """What it is about, as it was at that moment."""


class ToolCallProgressData(Resource):
    """What it is about, as it was at that moment."""
    call_id: str
    """The id of a call of one of your own functions, `call_` and 24 characters."""
    name: str
    """The function that is being carried out."""
    text: str
    """How far it is, in the words of your code."""


class FileCreatedEvent(Resource):
    """Work has made a file."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["file.created"]
    """Always `file.created`: it decides what `data` holds."""
    data: FileCreatedData
    """What it is about, as it was at that moment."""


class FileCreatedData(Resource):
    """What it is about, as it was at that moment."""
    file: File
    """A file that was uploaded, or that work has made."""


class ToolServerAwayEvent(Resource):
    """The tools of a server or an app could not be had; the agent goes on without them."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["tool_server.away"]
    """Always `tool_server.away`: it decides what `data` holds."""
    data: ToolServerAwayData
    """What it is about, as it was at that moment."""


class ToolServerAwayData(Resource):
    """What it is about, as it was at that moment."""
    server: str
    """The slug of the server, or the id of the app."""
    reason: TurnTraceMissingToolReason
    """Why they could not be had."""
    user_id: str | None
    """Null: it concerns every user."""


class ConversationStatusEvent(Resource):
    """The conversation went from one state to another."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["conversation.status"]
    """Always `conversation.status`: it decides what `data` holds."""
    data: ConversationStatusData
    """What it is about, as it was at that moment."""


class ConversationStatusData(Resource):
    """What it is about, as it was at that moment."""
    status: ConversationStatus
    """What the conversation is doing from now on."""


class StreamClosedEvent(Resource):
    """The last event of a stream that the server ends because it restarts. It is not part of the log:
    its `seq` is that of the event before it, so reconnect with it as `Last-Event-ID`.
    """
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    seq: int
    """Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one."""
    conversation_id: str | None
    """The conversation that the stream belongs to."""
    task_id: str | None
    """The work it is about; null where it is about none."""
    turn_id: str | None
    """The turn it is about; null where it is about none."""
    deployment_id: str | None
    """The deployment that answers; null where none does."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    type: Literal["stream.closed"]
    """Always `stream.closed`: it decides what `data` holds."""
    data: StreamClosedData
    """What it is about, as it was at that moment."""


class StreamClosedData(Resource):
    """What it is about, as it was at that moment."""
    reason: Literal["server_restarting"]
    """Why the server ended the stream."""


class WebhookConversationCreatedEvent(Resource):
    """A conversation was started."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["conversation.created"]
    """Always `conversation.created`: it decides what `data` holds."""
    data: Conversation
    """What it is about, as it was at that moment."""


class WebhookReplyCompletedEvent(Resource):
    """The agent has answered, or work has summed up."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["reply.completed"]
    """Always `reply.completed`: it decides what `data` holds."""
    data: Message
    """What it is about, as it was at that moment."""


class WebhookMessageFeedbackEvent(Resource):
    """Somebody said whether an answer was good or bad."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["message.feedback"]
    """Always `message.feedback`: it decides what `data` holds."""
    data: MessageFeedback
    """What it is about, as it was at that moment."""


class WebhookTurnFailedEvent(Resource):
    """A turn ended without an answer; `error` says why."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["turn.failed"]
    """Always `turn.failed`: it decides what `data` holds."""
    data: Turn
    """What it is about, as it was at that moment."""


class WebhookTaskStartedEvent(Resource):
    """A piece of work was begun."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["task.started"]
    """Always `task.started`: it decides what `data` holds."""
    data: Task
    """What it is about, as it was at that moment."""


class WebhookTaskCompletedEvent(Resource):
    """A piece of work is done."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["task.completed"]
    """Always `task.completed`: it decides what `data` holds."""
    data: Task
    """What it is about, as it was at that moment."""


class WebhookTaskFailedEvent(Resource):
    """A piece of work failed."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["task.failed"]
    """Always `task.failed`: it decides what `data` holds."""
    data: Task
    """What it is about, as it was at that moment."""


class WebhookTaskStoppedEvent(Resource):
    """A piece of work was ended by a limit, a policy, a caller or a person."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["task.stopped"]
    """Always `task.stopped`: it decides what `data` holds."""
    data: TaskWithReason
    """What it is about, as it was at that moment."""


class WebhookInteractionCreatedEvent(Resource):
    """The agent waits for an approval, an answer, a hand-off, a connection or a function of yours."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["interaction.created"]
    """Always `interaction.created`: it decides what `data` holds."""
    data: Interaction
    """What it is about, as it was at that moment."""


class WebhookInteractionResolvedEvent(Resource):
    """What the agent waited for was answered or withdrawn."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["interaction.resolved"]
    """Always `interaction.resolved`: it decides what `data` holds."""
    data: Interaction
    """What it is about, as it was at that moment."""


class WebhookInteractionExpiredEvent(Resource):
    """Nobody answered in time; the agent goes on without it."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["interaction.expired"]
    """Always `interaction.expired`: it decides what `data` holds."""
    data: Interaction
    """What it is about, as it was at that moment."""


class WebhookFileCreatedEvent(Resource):
    """Work has made a file."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["file.created"]
    """Always `file.created`: it decides what `data` holds."""
    data: File
    """What it is about, as it was at that moment."""


class WebhookRoutineRanEvent(Resource):
    """A routine has run; `run` says where."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["routine.ran"]
    """Always `routine.ran`: it decides what `data` holds."""
    data: RoutineWithRun
    """What it is about, as it was at that moment."""


class WebhookRoutineFailedEvent(Resource):
    """A run that was due did not happen; `reason` says why."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["routine.failed"]
    """Always `routine.failed`: it decides what `data` holds."""
    data: RoutineWithReason
    """What it is about, as it was at that moment."""


class WebhookBatchCompletedEvent(Resource):
    """Every item of a batch has ended."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["batch.completed"]
    """Always `batch.completed`: it decides what `data` holds."""
    data: Batch
    """What it is about, as it was at that moment."""


class WebhookTestRunCompletedEvent(Resource):
    """A test run has ended; `status` is its verdict."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["test_run.completed"]
    """Always `test_run.completed`: it decides what `data` holds."""
    data: TestRun
    """What it is about, as it was at that moment."""


class WebhookReplayCompletedEvent(Resource):
    """A replay has ended; its talks are read by `GET /v1/replays/{replay_id}` and left out here."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["replay.completed"]
    """Always `replay.completed`: it decides what `data` holds."""
    data: Replay
    """What it is about, as it was at that moment."""


class WebhookDeploymentPromotedEvent(Resource):
    """Another version of a deployment runs from now on."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["deployment.promoted"]
    """Always `deployment.promoted`: it decides what `data` holds."""
    data: DeploymentWithVersion
    """What it is about, as it was at that moment."""


class WebhookDeploymentRolledBackEvent(Resource):
    """The version that was live before is live again."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["deployment.rolled_back"]
    """Always `deployment.rolled_back`: it decides what `data` holds."""
    data: DeploymentWithVersionAndPreviousVersion
    """What it is about, as it was at that moment."""


class WebhookToolServerAwayEvent(Resource):
    """The tools of a server or an app could not be had; the agent goes on without them."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["tool_server.away"]
    """Always `tool_server.away`: it decides what `data` holds."""
    data: ToolServer
    """What it is about, as it was at that moment."""


class WebhookConnectionFailedEvent(Resource):
    """An app that was connected can no longer be used; `error` says why."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["connection.failed"]
    """Always `connection.failed`: it decides what `data` holds."""
    data: Connection
    """What it is about, as it was at that moment."""


class WebhookUserCreatedEvent(Resource):
    """A user acts for the first time."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["user.created"]
    """Always `user.created`: it decides what `data` holds."""
    data: User
    """What it is about, as it was at that moment."""


class WebhookUserDeletedEvent(Resource):
    """The erasure of a user is done."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["user.deleted"]
    """Always `user.deleted`: it decides what `data` holds."""
    data: Deleted
    """What it is about, as it was at that moment."""


class WebhookKeyCreatedEvent(Resource):
    """An API key was made."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["key.created"]
    """Always `key.created`: it decides what `data` holds."""
    data: Key
    """What it is about, as it was at that moment."""


class WebhookKeyRolledEvent(Resource):
    """An API key got a new secret."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["key.rolled"]
    """Always `key.rolled`: it decides what `data` holds."""
    data: Key
    """What it is about, as it was at that moment."""


class WebhookKeyRevokedEvent(Resource):
    """An API key was revoked."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["key.revoked"]
    """Always `key.revoked`: it decides what `data` holds."""
    data: Key
    """What it is about, as it was at that moment."""


class WebhookMcpGrantCreatedEvent(Resource):
    """A member has let an MCP client in, which has a minute to fetch its access."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["mcp_grant.created"]
    """Always `mcp_grant.created`: it decides what `data` holds."""
    data: McpGrant
    """What it is about, as it was at that moment."""


class WebhookMcpGrantRevokedEvent(Resource):
    """An MCP client was shut out, before its access ended by itself."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["mcp_grant.revoked"]
    """Always `mcp_grant.revoked`: it decides what `data` holds."""
    data: McpGrantWithReason
    """What it is about, as it was at that moment."""


class WebhookUsageThresholdReachedEvent(Resource):
    """Spend has reached one of the percentages of a cap that you asked to be told of."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["usage.threshold_reached"]
    """Always `usage.threshold_reached`: it decides what `data` holds."""
    data: UsageAlert
    """What it is about, as it was at that moment."""


class WebhookUsageCapReachedEvent(Resource):
    """Spend has reached a cap: nothing more is spent under it until its period ends."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["usage.cap_reached"]
    """Always `usage.cap_reached`: it decides what `data` holds."""
    data: UsageAlert
    """What it is about, as it was at that moment."""


class WebhookDisabledEvent(Resource):
    """An endpoint was switched off, because it failed for five days or answered 410."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["webhook.disabled"]
    """Always `webhook.disabled`: it decides what `data` holds."""
    data: WebhookEndpoint
    """What it is about, as it was at that moment."""


class WebhookTestEvent(Resource):
    """A sample, sent because somebody asked for it."""
    object: Literal["event"]
    """Always `event`: what kind of object this is."""
    id: str
    """The id of an event, `evt_` and 24 characters."""
    created_at: str
    """When it was made, as ISO 8601 in UTC."""
    mode: Literal["test", "live"]
    """The mode it happened in; endpoints of the other mode never hear of it."""
    org_id: str
    """The id of an org, `org_` and 24 characters."""
    type: Literal["webhook.test"]
    """Always `webhook.test`: it decides what `data` holds."""
    data: WebhookEndpoint
    """What it is about, as it was at that moment."""


class GeneratedScenarios(Resource):
    object: Literal["list"]
    """Always `list`: what kind of object this is."""
    data: list[ScenarioDraftScenario]
    """Drafts, to be looked at and created one by one."""


class NotebookSearch(Resource):
    query: str
    """What was looked for."""
    passages: list[NotebookSearchPassage]
    """The passages that fit best, best first; six at most, as the agent gets them."""
    unindexed: int
    """How many documents are found only by their words yet."""


class NotebookSearchPassage(Resource):
    document_id: str
    """The id of a document, `doc_` and 24 characters."""
    title: str
    """The title of its document."""
    heading: str
    """The headings above it, the outermost first; empty where there is none."""
    page: int | None
    """The page on which it begins; null in a file without pages."""
    text: str
    """The passage itself."""


class McpServerCheck(Resource):
    ok: bool
    """Whether it answered and its tools can be used."""
    tools: list[McpServerCheckTool]
    """The tools that it offers; empty where it did not answer."""
    notes: list[str]
    """What an agent is not shown of these tools, such as the end of a long description."""
    error: McpServerCheckError | None
    """What went wrong; null where it answered."""


class McpServerCheckTool(Resource):
    name: str
    """What the tool is called on the server."""
    description: str
    """What the server says of it."""
    read_only: bool
    """Whether the server marks it as changing nothing."""


class McpServerCheckError(Resource):
    code: str
    """The exact cause: an error code, or how work was ended, such as `stopped` or `max_budget`."""
    message: str
    """The cause as a sentence; it may change, so branch on `code`."""


class ConversationEvents(Resource):
    data: list[StreamEvent]
    """Events after `after`, oldest first."""
    next_after: int | None
    """Send it as `after` for the next page; null when these were the last."""


class DeclaredFunctions(Resource):
    deployment_id: str
    """The id of a deployment, `dep_` and 24 characters."""
    version: int
    """The version of the deployment that declares them."""
    data: list[DeclaredFunction]
    """The functions, in the order of the file."""


class DeclaredFunction(Resource):
    name: str
    """What the agent calls it by."""
    description: str
    """What the agent reads to decide when to call it."""
    input_schema: dict[str, Any]
    """What its arguments fit, as a JSON Schema."""
    timeout_s: int
    """Seconds the agent waits for your answer, 5 to 600."""
    read_only: bool
    """Whether it is a lookup that changes nothing, and so never waits for a yes."""
    run_without_asking: bool
    """Whether it changes something and still needs no yes."""


class TakenCalls(Resource):
    data: list[ToolCall]
    """The calls that are yours now; empty where none was open in time."""


class RenewedCall(Resource):
    call_id: str
    """The id of a call of one of your own functions, `call_` and 24 characters."""
    taken_until: str
    """Others may take it from then on, unless it is renewed again."""


class ReleasedCall(Resource):
    call_id: str
    """The id of a call of one of your own functions, `call_` and 24 characters."""
    released: Literal[True]
    """Always true: the call is open to others."""


class DeletedUser(Resource):
    object: Literal["user"]
    """Always `user`: what kind of object this is."""
    id: str
    """Your own id of the user."""
    deleted: Literal[False]
    """Always false: the erasure has begun and is not done."""
    status: Literal["deleting"]
    """Always `deleting`."""


class WarmedUser(Resource):
    user_id: str
    """Your own id of the user."""
    status: Literal["ready", "waking"]
    """`ready`: the computer is up; `waking`: it will be within seconds."""


class MemorySearch(Resource):
    query: str
    """What was looked for."""
    found: bool
    """Whether anything fits."""
    text: str | None
    """The facts that fit best, one to a line; null where none does."""


class AgentCard(Resource):
    """What an A2A agent says of itself."""
    name: str
    """What the agent is called."""
    description: str
    """What the agent is for."""
    supportedInterfaces: list[AgentCardSupportedInterface]
    """Where and how it is spoken to."""
    provider: AgentCardProvider | None = None
    """Who runs the agent."""
    version: str
    """The live version."""
    documentationUrl: str | None = None
    """Where more is written about it."""
    capabilities: AgentCardCapabilities
    """What of A2A it can do."""
    securitySchemes: dict[str, Any]
    """How to show who you are, by name."""
    securityRequirements: list[dict[str, Any]] | None = None
    """Which of these is needed."""
    defaultInputModes: list[str]
    """Media types that it takes."""
    defaultOutputModes: list[str]
    """Media types that it answers with."""
    skills: list[AgentCardSkill]
    """What it can be asked for: one skill, talking to it."""


class AgentCardSupportedInterface(Resource):
    url: str
    """The address that takes its messages."""
    protocolBinding: Literal["JSONRPC"]
    """Always JSON-RPC over HTTP."""
    protocolVersion: str
    """The version of A2A that is spoken."""


class AgentCardProvider(Resource):
    """Who runs the agent."""
    url: str
    """A page of theirs."""
    organization: str
    """What they are called."""


class AgentCardCapabilities(Resource):
    """What of A2A it can do."""
    streaming: Literal[True]
    """Always true: messages and tasks can be followed."""
    pushNotifications: Literal[False]
    """Always false: use webhooks."""
    extendedAgentCard: Literal[False]
    """Always false: this card is all there is."""


class AgentCardSkill(Resource):
    id: str
    """Tells skills apart."""
    name: str
    """What the skill is called."""
    description: str
    """What the skill is good for."""
    tags: list[str]
    """Words to find it by."""
    examples: list[str]
    """What one may say to it."""
    inputModes: list[str]
    """Media types that it takes."""
    outputModes: list[str]
    """Media types that it answers with."""


class OauthToken(Resource):
    access_token: str
    """Opens /v1/mcp, and nothing else, as `Authorization: Bearer`."""
    token_type: Literal["Bearer"]
    """Always `Bearer`."""
    expires_in: int
    """Seconds for which the access token works."""
    refresh_token: str
    """Gets the next access token, once."""
    scope: str
    """What was granted, with spaces between."""


class OauthRegister(Resource):
    client_id: str
    """What the client calls itself by from now on."""
    client_id_issued_at: int
    """When it was registered, in seconds since 1970."""
    client_name: str
    """What people read on the page that asks them."""
    redirect_uris: list[str]
    """Where browsers may bring the answer."""
    grant_types: list[str]
    """Always `authorization_code` and `refresh_token`."""
    response_types: list[str]
    """Always `code`."""
    token_endpoint_auth_method: Literal["none"]
    """Always `none`: the client has no secret."""


class OauthRevoke(Resource):
    """Empty."""
    pass


class OpenaiModels(Resource):
    object: Literal["list"]
    """Always `list`: what kind of object this is."""
    data: list[OpenaiModel]
    """The deployments, as models."""


StreamEvent = Union[
    TurnStartedEvent,
    ReplyDeltaEvent,
    ReplyCompletedEvent,
    TurnFailedEvent,
    TurnSettledEvent,
    TaskStartedEvent,
    TaskProgressEvent,
    TaskStepEvent,
    TaskCompletedEvent,
    TaskFailedEvent,
    TaskStoppedEvent,
    InteractionCreatedEvent,
    InteractionResolvedEvent,
    ToolCallCreatedEvent,
    ToolCallProgressEvent,
    FileCreatedEvent,
    ToolServerAwayEvent,
    ConversationStatusEvent,
    StreamClosedEvent,
]
"""One event of a conversation."""
WebhookEvent = Union[
    WebhookConversationCreatedEvent,
    WebhookReplyCompletedEvent,
    WebhookMessageFeedbackEvent,
    WebhookTurnFailedEvent,
    WebhookTaskStartedEvent,
    WebhookTaskCompletedEvent,
    WebhookTaskFailedEvent,
    WebhookTaskStoppedEvent,
    WebhookInteractionCreatedEvent,
    WebhookInteractionResolvedEvent,
    WebhookInteractionExpiredEvent,
    WebhookFileCreatedEvent,
    WebhookRoutineRanEvent,
    WebhookRoutineFailedEvent,
    WebhookBatchCompletedEvent,
    WebhookTestRunCompletedEvent,
    WebhookReplayCompletedEvent,
    WebhookDeploymentPromotedEvent,
    WebhookDeploymentRolledBackEvent,
    WebhookToolServerAwayEvent,
    WebhookConnectionFailedEvent,
    WebhookUserCreatedEvent,
    WebhookUserDeletedEvent,
    WebhookKeyCreatedEvent,
    WebhookKeyRolledEvent,
    WebhookKeyRevokedEvent,
    WebhookMcpGrantCreatedEvent,
    WebhookMcpGrantRevokedEvent,
    WebhookUsageThresholdReachedEvent,
    WebhookUsageCapReachedEvent,
    WebhookDisabledEvent,
    WebhookTestEvent,
]
"""One event as it is delivered to a webhook endpoint."""
