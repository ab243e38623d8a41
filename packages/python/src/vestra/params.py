"""What is sent, where it is more than plain values. Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping, Sequence, TypedDict


class DeploymentManifestParam(TypedDict, total=False):
    """Settings of its first version; a key left out takes its default."""
    instructions: str
    """What the agent is, does and must not do, in your own words; at most 8,000 characters."""
    language: str
    """A language tag such as `en`, `hi` or `pt-BR` that it answers in, or `auto` to follow each user."""
    model: str
    """A model id of `GET /v1/models`, or `default` for the one that the server is set to."""
    apps: Sequence[str] | Literal["all"]
    """Which apps users may connect: `all`, or the ids of `GET /v1/apps`."""
    approvals: Sequence[Literal["payment", "booking", "cancellation", "send_email", "publish", "delete"]]
    """Which kinds of action are marked and worded as such when a yes is asked for."""
    limits: DeploymentManifestLimitsParam
    """Where work and replies are stopped, in money, steps and minutes."""
    mcp_servers: Sequence[DeploymentManifestMcpServerParam]
    """Registered MCP servers that the agent may use; the id is enough."""
    mcp_tool_policy: Mapping[str, DeploymentManifestMcpToolPolicyParam]
    """By the slug of a server: what this version adds to the server’s own lists."""
    tools: Sequence[DeploymentManifestToolParam]
    """Functions that your own code answers, at most 50."""
    skills: Sequence[DeploymentManifestSkillByIdParam | DeploymentManifestSkillByNameParam]
    """Skills of the org by `id` and built-in ones by `name`, at most 100."""
    notebooks: Sequence[str]
    """Ids of the notebooks that the agent reads, at most 50."""
    memory: Literal["vestra", "customer", "none"] | None
    """Who keeps what is learnt of users; null: as the org has it."""
    environment: DeploymentManifestEnvironmentParam | None
    """How the agent’s computer is prepared; `computer` in the file."""
    browser: DeploymentManifestBrowserParam | None
    """Which sites the user’s browser may open; null: a fetch opens nothing, and no page is closed to
    the agent.
    """


class DeploymentManifestLimitsParam(TypedDict, total=False):
    """Where work and replies are stopped, in money, steps and minutes."""
    per_task_usd: float
    """US dollars after which a piece of work is stopped with `max_budget`."""
    per_turn_usd: float
    """US dollars after which a reply is stopped with `max_budget`."""
    max_steps: int
    """Model calls after which work is stopped with `max_turns`."""
    max_minutes: int
    """Minutes of working, waiting left out, after which work is stopped with `max_turns`."""
    ask_above_usd: float
    """A paid tool that costs more than this asks first."""


class _DeploymentManifestMcpServerParamNeeds(TypedDict):
    id: str
    """The id of an MCP server, `mcp_` and 24 characters."""


class DeploymentManifestMcpServerParam(_DeploymentManifestMcpServerParamNeeds, total=False):
    slug: str
    """What the agent knows the server by; shown, and ignored when sent."""
    url: str
    """The address of the server; shown, and ignored when sent."""


class DeploymentManifestMcpToolPolicyParam(TypedDict, total=False):
    deny: Sequence[str]
    """Tools of the server that the agent never calls."""
    require_approval: Sequence[str]
    """Tools that always wait for a yes, also where the server marks them read-only."""
    run_without_asking: Sequence[str]
    """Tools that never wait for a yes."""
    approver: Literal["user", "org"]
    """Who says yes where a call waits: the user, or the org by a key or a member."""


class _DeploymentManifestToolParamNeeds(TypedDict):
    function: str
    """What the agent calls the function by: lowercase letters, digits and underscores."""
    description: str
    """What it does and when to call it: the agent decides by this, and a person reads its first
    sentence when asked.
    """


class DeploymentManifestToolParam(_DeploymentManifestToolParamNeeds, total=False):
    input: Mapping[str, object]
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


class DeploymentManifestSkillByIdParam(TypedDict):
    id: str
    """The id of a skill of the org, `skl_` and 24 characters."""


class DeploymentManifestSkillByNameParam(TypedDict):
    name: str
    """The name of a skill that comes with the service, as `GET /v1/skills?source=built_in` lists it."""


class DeploymentManifestEnvironmentParam(TypedDict, total=False):
    """The agent’s computer, prepared before its first task."""
    setup: str
    """A shell script that runs once on each computer; the CLI and the SDK also take the name of a
    local file.
    """
    repos: Sequence[str | DeploymentManifestEnvironmentRepoParam]
    """Git repositories that are cloned before the first task, at most 10."""
    env: Mapping[str, str]
    """Environment variables of the computer; a credential is written `${NAME}`."""
    files: Sequence[DeploymentManifestEnvironmentFileParam]
    """Uploaded files that are put there, at most 50."""


class _DeploymentManifestEnvironmentRepoParamNeeds(TypedDict):
    url: str
    """The repository as `host/owner/repo`, or its https address."""


class DeploymentManifestEnvironmentRepoParam(_DeploymentManifestEnvironmentRepoParamNeeds, total=False):
    ref: str
    """Branch, tag or commit; absent: `main`."""
    path: str
    """The folder it is cloned into; absent: the name of the repository."""
    token: str
    """A secret of the company such as `${GIT_TOKEN}` that may read it, never the value itself."""


class DeploymentManifestEnvironmentFileParam(TypedDict):
    file_id: str
    """The id of a file, `file_` and 24 characters."""
    path: str
    """Where the file is put, relative to the home folder."""


class DeploymentManifestBrowserParam(TypedDict, total=False):
    allowed_domains: Sequence[str]
    """Hosts that the user’s browser may open, each with its `www.` form; without any, a fetch opens
    nothing and the agent any public site.
    """
    blocked_paths: Sequence[str]
    """Sites with the start of a path, such as `example.com/account`, that are never opened or shown."""


class _DeploymentToolByMcpParamNeeds(TypedDict):
    mcp: str
    """The public https address of an MCP server; the first file that names it registers it."""


class DeploymentToolByMcpParam(_DeploymentToolByMcpParamNeeds, total=False):
    name: str
    """What people call the server; absent: the host of its address."""
    auth: str
    """A secret such as `${SHOP_TOKEN}` that is sent as `Authorization: Bearer`."""
    headers: Mapping[str, str]
    """Headers for every call; a credential is written `${NAME}` or `${user_secret:NAME}`."""
    deny: Sequence[str]
    """Tools of the server that the agent never calls."""
    require_approval: Sequence[str]
    """Tools that always wait for a yes, also where the server marks them read-only."""
    run_without_asking: Sequence[str]
    """Tools that never wait for a yes."""
    approver: Literal["user", "org"]
    """Who says yes where a call waits: the user, or the org by a key or a member."""


class DeploymentKnowledgeParam(TypedDict):
    notebook: str
    """The id of an existing notebook, `nb_` and 24 characters."""


DeploymentRoutineParam = TypedDict(
    "DeploymentRoutineParam",
    {
        "name": "str",
        "ask": "str",
        "every": "str",
        "cron": "str",
        "on": "Literal['call']",
        "timezone": "str",
        "filters": "Mapping[str, object]",
        "enabled": "bool",
        "for": "str | Sequence[str]",
    },
    total=False,
)


class _DeploymentTestParamNeeds(TypedDict):
    name: str
    """What the test is called; unique within the deployment’s file."""
    ask: str
    """What the pretend user wants, in their own words."""
    expect: str | Sequence[str]
    """What must be true at the end: one line, or a list of at most 12; every one must be met."""


class DeploymentTestParam(_DeploymentTestParamNeeds, total=False):
    never: str
    """What must never happen; if it does, the test fails."""
    persona: str
    """Who the pretend user is; absent: a person who uses this agent for the first time."""
    tool_results: Mapping[str, object]
    """What tools answer in this test, by the name of a declared tool or `<server slug>.<tool>`; one
    with no entry answers an error.
    """
    recorded_calls: Sequence[DeploymentTestRecordedCallParam]
    """What tools answer to certain arguments, at most 50 calls; the same call again gets the next
    answer, and after the last that one. Any other call answers `tool_results`.
    """


class _DeploymentTestRecordedCallParamNeeds(TypedDict):
    tool: str
    """The name of a declared tool, or `<server slug>.<tool>`."""
    arguments: Mapping[str, object]
    """The arguments of the call: only a call with the same is answered so."""
    result: object
    """What the tool answers: text, or any JSON."""


class DeploymentTestRecordedCallParam(_DeploymentTestRecordedCallParamNeeds, total=False):
    is_error: bool
    """True: the answer is a failure of the tool; absent: it is not."""


class _DeploymentWebhookParamNeeds(TypedDict):
    url: str
    """The public https address that events are posted to."""
    events: Sequence[Literal["conversation.created", "reply.completed", "message.feedback", "turn.failed", "task.started", "task.completed", "task.failed", "task.stopped", "interaction.created", "interaction.resolved", "interaction.expired", "file.created", "routine.ran", "routine.failed", "batch.completed", "test_run.completed", "replay.completed", "deployment.promoted", "deployment.rolled_back", "tool_server.away", "connection.failed", "user.created", "user.deleted", "key.created", "key.rolled", "key.revoked", "mcp_grant.created", "mcp_grant.revoked", "usage.threshold_reached", "usage.cap_reached", "webhook.disabled", "webhook.test", "*"]] | Literal["*"]
    """1 to 40 event types, or `*` for all, later ones included."""


class DeploymentWebhookParam(_DeploymentWebhookParamNeeds, total=False):
    description: str
    """A note on what it is for."""


class NotebookAccessAllParam(TypedDict):
    mode: Literal["all"]
    """`all`: the agent reads it for every user."""


class NotebookAccessUsersParam(TypedDict):
    mode: Literal["users"]
    """`users`: the agent reads it for the named users alone."""
    user_ids: Sequence[str]
    """Your ids of the users, 1 to 1,000."""


class SkillFileParam(TypedDict):
    path: str
    """Where it lies in the skill, with forward slashes, such as `scripts/count.py`."""
    content: str
    """Its text, at most 1 MB."""


class McpServerAuthNoneParam(TypedDict):
    type: Literal["none"]
    """`none`: it is called without credentials."""


class McpServerAuthHeadersParam(TypedDict):
    type: Literal["headers"]
    """`headers`: these headers are sent with every call."""
    headers: Mapping[str, str]
    """Header names and values; a credential is written `${secret:NAME}` or `${user_secret:NAME}`,
    never as itself.
    """


class McpServerToolsParam(TypedDict, total=False):
    """The floor for every deployment that uses it; absent: none."""
    deny: Sequence[str]
    """Tools that no agent ever calls."""
    require_approval: Sequence[str]
    """Tools that always wait for a yes."""


class ConversationAttachmentParam(TypedDict):
    file_id: str
    """The id of a file, `file_` and 24 characters."""


class _ConversationToolParamNeeds(TypedDict):
    name: str
    """What the agent calls the function by: lowercase letters, digits and underscores."""
    description: str
    """What it does and when to call it: the agent decides by this, and a person reads its first
    sentence when asked.
    """


class ConversationToolParam(_ConversationToolParamNeeds, total=False):
    input_schema: Mapping[str, object]
    """A JSON Schema of type object that its arguments fit."""
    timeout_s: int
    """Seconds that the agent waits for the answer of your code."""
    read_only: bool
    """True: a lookup that changes nothing; it is called without waiting for a yes."""
    run_without_asking: bool
    """True: it changes something and is called without waiting for a yes."""
    approver: Literal["user", "org"]
    """Who says yes where a call waits: the user, or the org by a key or a member."""


class _ConversationToolResultParamNeeds(TypedDict):
    call_id: str
    """The id of a call of one of your own functions, `call_` and 24 characters."""


class ConversationToolResultParam(_ConversationToolResultParamNeeds, total=False):
    output: object
    """What the function returned, any JSON."""
    error: str
    """Why it failed, in words that the agent reads."""


class _BatchItemParamNeeds(TypedDict):
    message: str
    """What is asked, 1 to 32,000 characters."""


class BatchItemParam(_BatchItemParamNeeds, total=False):
    user_id: str
    """Whom it is done for; absent: the org’s own agent, of which at most 5 run at once."""
    context: Mapping[str, object]
    """Data for this item; the agent reads it as data, never as instructions."""
    metadata: Mapping[str, str]
    """Your own labels, given back as sent; the agent never reads them. At most 32, each of 512
    characters.
    """


class _RoutineScheduleParamNeeds(TypedDict):
    cron: str
    """Five fields: minute, hour, day of month, month, day of week."""


class RoutineScheduleParam(_RoutineScheduleParamNeeds, total=False):
    """A cron schedule in place of plain words."""
    timezone: str
    """The IANA time zone of these fields; absent: the user’s, then UTC."""


class _BrowserCaptureParamNeeds(TypedDict):
    match: str
    """A substring, a glob with `*`, or `/regex/`."""


class BrowserCaptureParam(_BrowserCaptureParamNeeds, total=False):
    required: bool
    """Whether the answer waits for it; false: it is taken along if it came."""


class _BrowserStepClickParamNeeds(TypedDict):
    kind: Literal["click"]
    """`click`: clicks one element."""


class BrowserStepClickParam(_BrowserStepClickParamNeeds, total=False):
    text: str
    """The element that shows this text."""
    selector: str
    """The element that this CSS selector finds."""
    role: str
    """The element with this ARIA role; goes with `name`."""
    name: str
    """Its accessible name; goes with `role`."""
    within_ms: int
    """How long to wait for the element, at most 10,000 milliseconds."""
    nth: int
    """Which of several that match, from 1."""
    near_text: str
    """The one that stands next to this text."""


class _BrowserStepTypeParamNeeds(TypedDict):
    kind: Literal["type"]
    """`type`: writes into one field."""
    into: str
    """The label, placeholder or selector of the field."""
    text: str
    """What to write; it replaces what was there."""


class BrowserStepTypeParam(_BrowserStepTypeParamNeeds, total=False):
    submit: bool
    """Whether Enter is pressed afterwards."""


class BrowserStepScrollParam(TypedDict):
    kind: Literal["scroll"]
    """`scroll`: moves the page."""
    to: Literal["bottom", "top"] | int
    """`bottom`, `top`, or so many pixels down."""


class _BrowserStepWaitForParamNeeds(TypedDict):
    kind: Literal["wait_for"]
    """`wait_for`: waits until the page has something."""


class BrowserStepWaitForParam(_BrowserStepWaitForParamNeeds, total=False):
    text: str
    """Until this text shows."""
    selector: str
    """Until this CSS selector finds an element."""
    url: str
    """Until the address contains this."""
    within_ms: int
    """How long to wait, at most 60,000 milliseconds."""


class _BrowserStepPageFetchParamNeeds(TypedDict):
    kind: Literal["page_fetch"]
    """`page_fetch`: calls an address from inside the page, with its cookies."""
    url: str
    """The address; on one of the deployment’s allowed sites."""


class BrowserStepPageFetchParam(_BrowserStepPageFetchParamNeeds, total=False):
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
    """The HTTP method of the call."""
    headers: Mapping[str, str]
    """Headers of the call."""
    body: object
    """Text is sent as it is, anything else as JSON."""


class BrowserFrontCropParam(TypedDict, total=False):
    """The one element that the screen of a hand-off shows."""
    role: str
    """The ARIA role of the element."""
    name: str
    """The accessible name of the element."""
    text: str
    """A text that the element shows."""


class _SessionInputMouseParamNeeds(TypedDict):
    kind: Literal["mouse"]
    """`mouse`: the pointer moved or a button was used."""
    type: Literal["move", "down", "up"]
    """What it did."""
    x: float
    """How far from the left, as a share of the width, 0 to 1."""
    y: float
    """How far from the top, as a share of the height, 0 to 1."""


class SessionInputMouseParam(_SessionInputMouseParamNeeds, total=False):
    button: Literal["none", "left", "middle", "right"]
    """With `move`: the one that is held down meanwhile."""
    clicks: int
    """Which click of a row it is: 2 for a double click."""


class SessionInputWheelParam(TypedDict):
    kind: Literal["wheel"]
    """`wheel`: the wheel was turned."""
    x: float
    """How far from the left, as a share of the width, 0 to 1."""
    y: float
    """How far from the top, as a share of the height, 0 to 1."""
    dx: float
    """Pixels to the right."""
    dy: float
    """Pixels down."""


class _SessionInputKeyParamNeeds(TypedDict):
    kind: Literal["key"]
    """`key`: one key was pressed."""
    key: str
    """One character, or the name of a key such as `Enter`."""


class SessionInputKeyParam(_SessionInputKeyParamNeeds, total=False):
    modifiers: Sequence[Literal["alt", "control", "meta", "shift"]]
    """Keys that are held down meanwhile."""


class SessionInputTextParam(TypedDict):
    kind: Literal["text"]
    """`text`: a text was typed or pasted."""
    text: str
    """The text, at most 2,000 characters."""


class SessionInputNavigateParam(TypedDict):
    kind: Literal["navigate"]
    """`navigate`: the page before or after is wanted."""
    to: Literal["back", "forward"]
    """Which way to go in the tab’s history."""


class SessionInputHandBackParam(TypedDict):
    kind: Literal["hand_back"]
    """`hand_back`: the person gives the browser back to the agent."""


class OrgOpeningParam(TypedDict, total=False):
    message: str
    """Stands where the conversation will begin."""
    suggestions: Sequence[str]
    """Questions that the person sends with one click."""


class LimitCapsParam(TypedDict, total=False):
    """The caps to change; those left out stay."""
    org_daily_usd: float | None
    """US dollars a day for the whole org, at most `max_org_daily_usd`; null: none."""
    user_daily_usd: float | None
    """US dollars a day for each user, at most the org’s; null: none."""
    org_monthly_usd: float | None
    """US dollars a calendar month for the whole org; null: none."""
    user_monthly_usd: float | None
    """US dollars a calendar month for each user; null: none."""


class LimitUsageAlertsParam(TypedDict):
    """When spending is to be told of."""
    thresholds: Sequence[int]
    """Percentages of a cap, 1 to 100, at most 5; replaces the list."""
