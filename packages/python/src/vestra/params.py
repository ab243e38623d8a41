"""What is sent, where it is more than plain values. Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping, Sequence, TypedDict


class DeploymentManifestParam(TypedDict, total=False):
    instructions: str
    language: str
    model: str
    apps: Sequence[str] | Literal["all"]
    approvals: Sequence[Literal["payment", "booking", "cancellation", "send_email", "publish", "delete"]]
    limits: DeploymentManifestLimitsParam
    mcp_servers: Sequence[DeploymentManifestMcpServerParam]
    mcp_tool_policy: Mapping[str, DeploymentManifestMcpToolPolicyParam]
    tools: Sequence[DeploymentManifestToolParam]
    skills: Sequence[DeploymentManifestSkillByIdParam | DeploymentManifestSkillByNameParam]
    notebooks: Sequence[str]
    memory: Literal["vestra", "customer", "none"] | None
    environment: DeploymentManifestEnvironmentParam | None
    browser: DeploymentManifestBrowserParam | None


class DeploymentManifestLimitsParam(TypedDict, total=False):
    per_task_usd: float
    per_turn_usd: float
    max_steps: int
    max_minutes: int
    ask_above_usd: float


class _DeploymentManifestMcpServerParamNeeds(TypedDict):
    id: str


class DeploymentManifestMcpServerParam(_DeploymentManifestMcpServerParamNeeds, total=False):
    slug: str
    url: str


class DeploymentManifestMcpToolPolicyParam(TypedDict, total=False):
    deny: Sequence[str]
    require_approval: Sequence[str]
    run_without_asking: Sequence[str]
    approver: Literal["user", "org"]
    """Who says yes where a call waits: the user, or the org by a key or a member."""


class _DeploymentManifestToolParamNeeds(TypedDict):
    function: str
    description: str


class DeploymentManifestToolParam(_DeploymentManifestToolParamNeeds, total=False):
    input: Mapping[str, object]
    """Argument names and types such as `string`, `integer?`, `string[]`, `small|large`; or a JSON
    Schema of type object
    """
    timeout_s: int
    read_only: bool
    run_without_asking: bool
    approver: Literal["user", "org"]
    """Who says yes where a call waits: the user, or the org by a key or a member."""


class DeploymentManifestSkillByIdParam(TypedDict):
    id: str


class DeploymentManifestSkillByNameParam(TypedDict):
    name: str


class DeploymentManifestEnvironmentParam(TypedDict, total=False):
    setup: str
    repos: Sequence[str | DeploymentManifestEnvironmentRepoParam]
    env: Mapping[str, str]
    files: Sequence[DeploymentManifestEnvironmentFileParam]


class _DeploymentManifestEnvironmentRepoParamNeeds(TypedDict):
    url: str


class DeploymentManifestEnvironmentRepoParam(_DeploymentManifestEnvironmentRepoParamNeeds, total=False):
    ref: str
    path: str
    token: str


class DeploymentManifestEnvironmentFileParam(TypedDict):
    file_id: str
    path: str


class DeploymentManifestBrowserParam(TypedDict, total=False):
    allowed_domains: Sequence[str]
    blocked_paths: Sequence[str]


class _DeploymentToolByMcpParamNeeds(TypedDict):
    mcp: str


class DeploymentToolByMcpParam(_DeploymentToolByMcpParamNeeds, total=False):
    name: str
    auth: str
    headers: Mapping[str, str]
    deny: Sequence[str]
    require_approval: Sequence[str]
    run_without_asking: Sequence[str]
    approver: Literal["user", "org"]
    """Who says yes where a call waits: the user, or the org by a key or a member."""


class DeploymentKnowledgeParam(TypedDict):
    notebook: str


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
    ask: str
    expect: str | Sequence[str]


class DeploymentTestParam(_DeploymentTestParamNeeds, total=False):
    never: str
    persona: str
    tool_results: Mapping[str, object]


class _DeploymentWebhookParamNeeds(TypedDict):
    url: str
    events: Sequence[Literal["conversation.created", "reply.completed", "turn.failed", "task.started", "task.completed", "task.failed", "task.stopped", "interaction.created", "interaction.resolved", "interaction.expired", "file.created", "routine.ran", "routine.failed", "batch.completed", "test_run.completed", "deployment.promoted", "deployment.rolled_back", "tool_server.away", "connection.failed", "user.created", "user.deleted", "key.created", "key.rolled", "key.revoked", "usage.threshold_reached", "usage.cap_reached", "webhook.disabled", "webhook.test", "*"]] | Literal["*"]


class DeploymentWebhookParam(_DeploymentWebhookParamNeeds, total=False):
    description: str


class NotebookAccessAllParam(TypedDict):
    mode: Literal["all"]


class NotebookAccessUsersParam(TypedDict):
    mode: Literal["users"]
    user_ids: Sequence[str]


class SkillFileParam(TypedDict):
    path: str
    content: str


class McpServerAuthNoneParam(TypedDict):
    type: Literal["none"]


class McpServerAuthHeadersParam(TypedDict):
    type: Literal["headers"]
    headers: Mapping[str, str]


class McpServerToolsParam(TypedDict, total=False):
    deny: Sequence[str]
    require_approval: Sequence[str]


class ConversationAttachmentParam(TypedDict):
    file_id: str


class _ConversationToolParamNeeds(TypedDict):
    name: str
    description: str


class ConversationToolParam(_ConversationToolParamNeeds, total=False):
    input_schema: Mapping[str, object]
    timeout_s: int
    read_only: bool
    run_without_asking: bool
    approver: Literal["user", "org"]
    """Who says yes where a call waits: the user, or the org by a key or a member."""


class _ConversationToolResultParamNeeds(TypedDict):
    call_id: str


class ConversationToolResultParam(_ConversationToolResultParamNeeds, total=False):
    output: object
    error: str


class _BatchItemParamNeeds(TypedDict):
    message: str


class BatchItemParam(_BatchItemParamNeeds, total=False):
    user_id: str
    context: Mapping[str, object]
    metadata: Mapping[str, str]


class _RoutineScheduleParamNeeds(TypedDict):
    cron: str


class RoutineScheduleParam(_RoutineScheduleParamNeeds, total=False):
    timezone: str


class _BrowserCaptureParamNeeds(TypedDict):
    match: str
    """A substring, a glob with `*`, or `/regex/`."""


class BrowserCaptureParam(_BrowserCaptureParamNeeds, total=False):
    required: bool


class _BrowserStepClickParamNeeds(TypedDict):
    kind: Literal["click"]


class BrowserStepClickParam(_BrowserStepClickParamNeeds, total=False):
    text: str
    selector: str
    role: str
    name: str
    within_ms: int
    nth: int
    near_text: str


class _BrowserStepTypeParamNeeds(TypedDict):
    kind: Literal["type"]
    into: str
    """The label, placeholder or selector of the field."""
    text: str


class BrowserStepTypeParam(_BrowserStepTypeParamNeeds, total=False):
    submit: bool


class BrowserStepScrollParam(TypedDict):
    kind: Literal["scroll"]
    to: Literal["bottom", "top"] | int


class _BrowserStepWaitForParamNeeds(TypedDict):
    kind: Literal["wait_for"]


class BrowserStepWaitForParam(_BrowserStepWaitForParamNeeds, total=False):
    text: str
    selector: str
    url: str
    within_ms: int


class _BrowserStepPageFetchParamNeeds(TypedDict):
    kind: Literal["page_fetch"]
    url: str


class BrowserStepPageFetchParam(_BrowserStepPageFetchParamNeeds, total=False):
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
    headers: Mapping[str, str]
    body: object
    """Text is sent as it is, anything else as JSON."""


class BrowserFrontCropParam(TypedDict, total=False):
    """The one element that the screen of a hand-off shows."""
    role: str
    name: str
    text: str


class _SessionInputMouseParamNeeds(TypedDict):
    kind: Literal["mouse"]
    type: Literal["move", "down", "up"]
    x: float
    y: float


class SessionInputMouseParam(_SessionInputMouseParamNeeds, total=False):
    button: Literal["none", "left", "middle", "right"]
    """With `move`: the one that is held down meanwhile."""
    clicks: int


class SessionInputWheelParam(TypedDict):
    kind: Literal["wheel"]
    x: float
    y: float
    dx: float
    dy: float


class _SessionInputKeyParamNeeds(TypedDict):
    kind: Literal["key"]
    key: str
    """One character, or the name of a key such as `Enter`."""


class SessionInputKeyParam(_SessionInputKeyParamNeeds, total=False):
    modifiers: Sequence[Literal["alt", "control", "meta", "shift"]]


class SessionInputTextParam(TypedDict):
    kind: Literal["text"]
    text: str


class SessionInputNavigateParam(TypedDict):
    kind: Literal["navigate"]
    to: Literal["back", "forward"]


class SessionInputHandBackParam(TypedDict):
    kind: Literal["hand_back"]


class OrgOpeningParam(TypedDict, total=False):
    message: str
    """Stands where the conversation will begin."""
    suggestions: Sequence[str]
    """Questions that the person sends with one click."""


class LimitCapsParam(TypedDict, total=False):
    org_daily_usd: float | None
    user_daily_usd: float | None
    org_monthly_usd: float | None
    user_monthly_usd: float | None


class LimitUsageAlertsParam(TypedDict):
    thresholds: Sequence[int]
