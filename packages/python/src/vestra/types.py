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
DeploymentVersionCreatedByType = Literal["key", "member", "system"]
TestRunResultTranscriptRole = Literal["user", "agent", "work"]
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
    "deployment.promoted",
    "deployment.rolled_back",
    "tool_server.away",
    "connection.failed",
    "user.created",
    "user.deleted",
    "key.created",
    "key.rolled",
    "key.revoked",
    "usage.threshold_reached",
    "usage.cap_reached",
    "webhook.disabled",
    "webhook.test",
    "*",
]
WebhookDeliveryEventType = Literal[
    "conversation.created",
    "reply.completed",
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
    "deployment.promoted",
    "deployment.rolled_back",
    "tool_server.away",
    "connection.failed",
    "user.created",
    "user.deleted",
    "key.created",
    "key.rolled",
    "key.revoked",
    "usage.threshold_reached",
    "usage.cap_reached",
    "webhook.disabled",
    "webhook.test",
]
WebhookDeliveryStatus = Literal["pending", "succeeded", "failed"]
ConnectionStatus = Literal["pending", "connected", "failed"]
KeyScope = Literal["setup", "runtime", "admin", "all"]
UsageAlertCap = Literal["org_daily_usd", "org_monthly_usd", "user_daily_usd", "user_monthly_usd"]
AppSignInClient = Literal["org", "operator", "automatic", "missing"]
AppClientAuthMethod = Literal["client_secret_basic", "client_secret_post", "none"]
OpenaiResponseStatus = Literal["completed", "failed", "in_progress", "cancelled", "incomplete"]
MeMemberRole = Literal["owner", "admin", "developer"]
LineItemKind = Literal["orchestrator", "intelligence", "tools", "compute", "background", "voice"]
AuditEntryActorType = Literal["key", "member", "session", "system"]
ModelTake = Literal["text", "image", "pdf", "audio"]


class Deleted(Resource):
    object: str
    id: str
    deleted: Literal[True]


class Deployment(Resource):
    object: Literal["deployment"]
    id: str
    name: str
    slug: str
    description: str
    base: Literal["agent"]
    status: Literal["active", "archived"]
    draft_version: int
    live_version: int | None
    created_at: str
    updated_at: str


class RolledBackDeployment(Deployment):
    webhook_secrets: list[DeploymentWebhookSecret]


class DeploymentWithVersion(Deployment):
    version: int
    became_default: bool


class DeploymentWithVersionAndPreviousVersion(Deployment):
    version: int
    previous_version: int


class PromotedDeployment(Deployment):
    version: DeploymentVersion
    promoted: bool
    became_default: bool
    test_run: TestRun | None
    webhook_secrets: list[DeploymentWebhookSecret]


class AppliedDeployment(Deployment):
    version: DeploymentVersion
    promoted: bool
    became_default: bool
    test_run: TestRun | None
    webhook_secrets: list[DeploymentWebhookSecret]
    changed: list[str]
    created: bool
    warnings: list[DeploymentWarning]


class DeploymentVersion(Resource):
    object: Literal["deployment_version"]
    deployment_id: str
    version: int
    note: str | None
    manifest: DeploymentVersionManifest
    changed: list[str]
    missing: list[str]
    tests: DeploymentVersionTests | None
    is_draft: bool
    is_live: bool
    created_by: DeploymentVersionCreatedBy
    created_at: str


class TestRun(Resource):
    object: Literal["test_run"]
    id: str
    deployment_id: str
    version: int
    mode: Literal["test", "live"]
    status: DeploymentVersionTestsStatus
    promote_on_pass: bool
    counts: TestRunCounts
    results: list[TestRunResult]
    resumes: int
    error_code: str | None
    note: str | None
    """What a reader should know besides the results, such as that the run waits for an index."""
    cost_usd: float
    """US dollars, at most five decimals"""
    created_at: str
    started_at: str | None
    finished_at: str | None


class Interview(Resource):
    object: Literal["interview"]
    conversation_id: str
    deployment: str
    status: Literal["asking", "ready"]
    question: str | None
    file: InterviewFile | None
    yaml: str | None


class Scenario(Resource):
    object: Literal["scenario"]
    id: str
    deployment_id: str
    name: str
    persona: str
    goal: str
    success_criteria: list[str]
    must_never: list[str]
    tool_results: dict[str, Any] | None = None
    approves: bool | None = None
    managed_by: Literal["file"] | None
    created_at: str
    updated_at: str


class TestRunEvent(Resource):
    object: Literal["test_run_event"]
    type: Literal["test_run.progress", "test_run.completed"]
    seq: int
    """Counts up from 1 on this stream."""
    run_id: str
    data: TestRunEventDataByStatus | TestRunEventDataByTestRun
    """How far the run is; with `test_run.completed` the whole run."""


class Notebook(Resource):
    object: Literal["notebook"]
    id: str
    slug: str
    name: str
    description: str
    access: NotebookAccessAll | NotebookAccessUsers
    document_count: int
    bytes: int
    created_at: str
    updated_at: str


class Document(Resource):
    object: Literal["document"]
    id: str
    notebook_id: str
    title: str
    content_type: str
    bytes: int
    sha256: str
    indexed: bool
    created_at: str


class DocumentWithText(Document):
    text: str


class Skill(Resource):
    object: Literal["skill"]
    id: str | None
    source: Literal["company", "built_in"]
    slug: str
    name: str
    description: str
    version: str | None
    sha256: str | None
    created_at: str | None
    updated_at: str | None


class SkillWithFiles(Skill):
    files: list[SkillFile]


class SkillVersion(Resource):
    object: Literal["skill_version"]
    hash: str
    parent_hash: str | None
    created_at: str


class McpServer(Resource):
    object: Literal["mcp_server"]
    id: str
    slug: str
    name: str
    url: str
    auth: McpServerAuthNone | McpServerAuthHeaders
    tools: McpServerTools
    secrets: list[str]
    user_secrets: list[str]
    created_at: str
    updated_at: str


class Secret(Resource):
    object: Literal["secret"]
    name: str
    user_id: str | None
    mode: Literal["test", "live"]
    created_at: str
    updated_at: str


class Conversation(Resource):
    object: Literal["conversation"]
    id: str
    user_id: str | None
    deployment_id: str | None
    deployment_version: int | None
    status: ConversationStatus
    metadata: dict[str, str]
    created_at: str
    last_active_at: str
    open_work: list[ConversationOpenWork]
    open_interactions: list[ConversationOpenInteraction]
    pending_tool_calls: list[ConversationPendingToolCall]
    last_event_seq: int
    cost_usd: float
    """US dollars, at most five decimals"""
    cost_breakdown: ConversationCostBreakdown
    turn_id: str | None = None
    """The turn of the first message, where one was sent."""


class Turn(Resource):
    object: Literal["turn"]
    id: str
    conversation_id: str
    status: TurnStatus
    reply: TurnReply | None
    """The final answer: the work’s, where the message was handed off."""
    acknowledgement: str | None
    """The one line said when work took the message."""
    task_id: str | None
    interactions: list[str]
    """What the turn waits on."""
    error: TurnError | None
    cost_usd: float
    """US dollars, at most five decimals"""
    created_at: str
    settled_at: str | None


class Message(Resource):
    object: Literal["message"]
    id: str
    conversation_id: str
    turn_id: str
    task_id: str | None
    role: TestRunResultTranscriptRole
    text: str
    data: Any
    truncated: Literal[True] | None = None
    """The model ran into its limit of length: the text ends there."""
    context: dict[str, Any] | None
    attachments: list[MessageAttachment]
    created_at: str


class Task(Resource):
    object: Literal["task"]
    id: str
    user_id: str | None
    conversation_id: str | None
    deployment_id: str | None
    deployment_version: int | None
    status: ConversationOpenWorkStatus
    title: str | None
    progress: list[TaskProgress]
    result: TaskResult
    outcome: TaskOutcome | None
    error: TaskError | None
    cost_usd: float
    """US dollars, at most five decimals"""
    cost_breakdown: ConversationCostBreakdown
    created_at: str
    updated_at: str


class TaskWithReason(Task):
    reason: str | None = None
    message: str | None = None


class Interaction(Resource):
    object: Literal["interaction"]
    id: str
    user_id: str | None
    task_id: str | None
    conversation_id: str | None
    kind: ConversationOpenInteractionKind
    type: InteractionType
    status: InteractionStatus
    summary: str
    moves_money: bool | None
    requires_present_user: bool
    approver: Literal["user", "org"] | None = None
    """Of an approval, who says yes: the user, or the org by a key or a member."""
    needs: list[InteractionNeed]
    """What a yes must bring: `present_user: true`, the `nonce`. `connection`, `installation`: it is
    done elsewhere, and no yes is taken.
    """
    nonce: str | None = None
    """Of a `hands_approval`: send it back with the yes."""
    questions: list[InteractionQuestion] | None = None
    frame_url: str | None = None
    """Of a hand-off read alone: the page as a JPEG data URI."""
    browser: InteractionBrowser | None = None
    details: InteractionDetails
    """What it is about, by the type."""
    outcome: InteractionOutcome | None
    created_at: str
    expires_at: str | None
    resolved_at: str | None


class File(Resource):
    object: Literal["file"]
    id: str
    user_id: str | None
    filename: str | None
    mime_type: str | None
    size_bytes: int | None
    source: FileSource
    task_id: str | None
    conversation_id: str | None
    created_at: str


class FileWithDownloadUrl(File):
    download_url: str
    download_expires_at: str


class TurnTrace(Resource):
    object: Literal["turn_trace"]
    conversation_id: str
    turn_id: str
    task_id: str | None
    """The work that the reply handed over to."""
    steps: list[TurnTraceStep]
    turns: list[TurnTraceTurn]
    totals: TurnTraceTotals
    missing_tools: list[TurnTraceMissingTool]
    """Servers whose tools the agent did not have; it was told so."""


class ToolCall(Resource):
    object: Literal["tool_call"]
    call_id: str
    """The same however often the call is taken: the key by which its effect happens once."""
    name: str
    arguments: Any
    deployment_id: str
    conversation_id: str
    task_id: str | None
    user_id: str | None
    claim_id: str
    """Tells who has taken the call, from `take`."""
    attempt: int
    """Above 1: somebody took it before and may have carried it out."""
    taken_until: str
    """Others may take it from then on, unless it is renewed."""
    expires_at: str | None
    """The agent goes on without an answer then."""


class FunctionEndpoint(Resource):
    object: Literal["function_endpoint"]
    deployment_id: str
    mode: Literal["test", "live"]
    url: str
    last_failure: FunctionEndpointLastFailure | None
    created_at: str
    updated_at: str


class FunctionEndpointWithSecret(FunctionEndpoint):
    secret: str | None = None


class FunctionEndpointWithSecret2(FunctionEndpoint):
    secret: str


class TaskTrace(Resource):
    object: Literal["task_trace"]
    task_id: str
    steps: list[TurnTraceStep]
    turns: list[TurnTraceTurn]
    totals: TaskTraceTotals
    missing_tools: list[TaskTraceMissingTool]
    """Servers whose tools the agent did not have; it was told so."""


class Batch(Resource):
    object: Literal["batch"]
    id: str
    status: BatchStatus
    deployment_id: str | None
    concurrency: int
    item_count: int
    counts: BatchCounts
    spend_usd: float
    """US dollars, at most five decimals"""
    metadata: dict[str, str]
    created_at: str
    completed_at: str | None


class BatchItem(Resource):
    object: Literal["batch.item"]
    index: int
    user_id: str | None
    status: BatchItemStatus
    conversation_id: str | None
    task_id: str | None
    result: BatchItemResult | None
    error: BatchItemError | None
    metadata: dict[str, str]
    created_at: str
    finished_at: str | None


class Routine(Resource):
    object: Literal["routine"]
    id: str
    user_id: str | None
    conversation_id: str | None
    name: str
    ask: str
    kind: RoutineKind
    schedule: RoutineSchedule | None
    trigger: RoutineTrigger | None
    trigger_url: str | None
    enabled: bool
    status: RoutineStatus
    last_run_at: str | None
    next_run_at: str | None
    run_count: int
    last_error: RoutineLastError | None
    """Why the last run that was due did not happen; null once one has."""
    created_at: str
    updated_at: str


class RoutineWithRun(Routine):
    run: RoutineRun2


class RoutineWithReason(Routine):
    reason: str
    message: str


class RoutineRun(Resource):
    object: Literal["routine_run"]
    routine_id: str
    status: RoutineRunStatus
    conversation_id: str | None
    turn_id: str | None


class User(Resource):
    object: Literal["user"]
    id: str
    name: str | None
    email: str | None
    locale: str | None
    timezone: str | None
    metadata: dict[str, Any]
    status: Literal["active", "disabled"]
    spend_cap_usd: float | None
    monthly_cap_usd: float | None
    default_deployment: str | None
    memory_mode: DeploymentVersionManifestMemory
    is_service_user: bool
    created_at: str
    spend_today_usd: float
    """US dollars, at most five decimals"""
    spend_month_usd: float
    """US dollars, at most five decimals"""
    caps_remaining: UserCapsRemaining


class BrowserFetch(Resource):
    object: Literal["browser_fetch"]
    url: str
    status: int
    title: str
    tab: str | None
    captures: list[BrowserFetchCapture]
    steps: list[BrowserFetchStep]
    timings: BrowserFetchTimings
    frames: list[BrowserFetchFrame]


class BrowserCookies(Resource):
    object: Literal["browser_cookies"]
    domain: str
    cookies: list[BrowserCookiesCookie]


class BrowserFrame(Resource):
    object: Literal["browser_frame"]
    type: Literal["browser.frame", "browser.closed"]
    seq: int
    tab: str
    tag: str | None
    stage: str | None
    url: str | None
    image: str | None
    """The tab as a JPEG data URI; null once it is closed or hidden."""
    created_at: str


class Memory(Resource):
    object: Literal["memory"]
    id: str
    text: str
    kind: MemoryKind
    source: MemorySource
    observed_at: str


class Session(Resource):
    object: Literal["session"]
    id: str
    user_id: str | None
    conversation_id: str | None
    deployment_id: str | None
    """The agent of its conversation."""
    chat: bool
    screen: SessionScreen
    voice: bool
    memory: bool
    expires_at: str
    status: SessionStatus
    opening: SessionOpening | None
    """What its page says before anything was said."""
    screen_paused: Literal[True] | None = None
    """Only while a view-only screen is private."""


class SessionWithToken(Session):
    token: str
    url: str
    frame_ancestors: list[str]
    """Origins that may embed the page; empty: none."""


class FramePolicy(Resource):
    object: Literal["frame_policy"]
    frame_ancestors: list[str]
    """Origins that may embed the page; empty: none."""


class BrowserStream(Resource):
    object: Literal["browser_stream"]
    stream_url: str
    preview_token: str | None
    preview_token_param: str | None = None
    crop_pending: Literal[True] | None = None
    """The element that a hand-off shows is not on the page yet."""


class ScreenInput(Resource):
    object: Literal["screen_input"]
    driving: bool
    """Whether the browser is in the hands of this session."""


class VoiceCall(Resource):
    object: Literal["voice_call"]
    sdp: str
    ends_at: str


class WebhookEndpoint(Resource):
    object: Literal["webhook_endpoint"]
    id: str
    url: str
    events: list[WebhookEndpointEvent]
    description: str | None
    active: bool
    mode: Literal["test", "live"]
    deployment_id: str | None
    managed_by: Literal["file"] | None
    created_at: str
    updated_at: str


class WebhookEndpointWithSecret(WebhookEndpoint):
    secret: str


class WebhookDelivery(Resource):
    object: Literal["webhook_delivery"]
    id: str
    endpoint_id: str
    event_id: str
    event_type: WebhookDeliveryEventType
    attempt: int
    status: WebhookDeliveryStatus
    status_code: int | None
    duration_ms: int | None
    error: str | None
    next_attempt_at: str | None
    created_at: str


class ToolServer(Resource):
    object: Literal["tool_server"]
    id: str
    server: str
    """The slug of the server, or the id of the app."""
    reason: TurnTraceMissingToolReason
    user_id: str | None
    """Null: it concerns every user."""
    message: str
    conversation_id: str
    turn_id: str


class Connection(Resource):
    object: Literal["connection"]
    id: str
    app: str
    """The id of the app."""
    user_id: str | None
    """Whose connection it is; null for the org’s own agent."""
    auth: Literal["oauth", "api_key"]
    """Whether the user signed in at the app, or gave a key of theirs."""
    status: ConnectionStatus
    """`pending` until the user has signed in, `connected` while it can be used, `failed` once it is
    over.
    """
    connect_url: str | None
    """Where the user signs in, while the connection is pending."""
    account: str | None
    """Whose account it is at the app, where the app tells."""
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
    object: Literal["key"]
    id: str
    name: str
    mode: Literal["test", "live"]
    scopes: list[KeyScope]
    last4: str
    created_at: str
    last_used_at: str | None
    expires_at: str | None


class KeyWithKey(Key):
    key: str


class KeyWithKeyAndPreviousExpiresAt(Key):
    key: str
    previous_expires_at: str | None


class UsageAlert(Resource):
    object: Literal["usage_alert"]
    cap: UsageAlertCap
    user_id: str | None
    """Null: the cap is the org’s."""
    period: str
    """The day, `2026-11-15`, or the month, `2026-11`."""
    threshold: int
    """The percentage of the cap that spend has reached."""
    cap_usd: float
    """US dollars, at most five decimals"""
    spend_usd: float
    """US dollars, at most five decimals"""


class App(Resource):
    object: Literal["app"]
    id: str
    """What `apps` of a deployment and `app` of a connection take."""
    name: str
    """What people call the app."""
    description: str
    """What the app holds, in one sentence."""
    icon_url: str | None
    """The address of a picture of it; null where there is none."""
    connectable: bool
    """Whether users of this org can connect it now, in this mode."""
    sign_in: AppSignIn | None
    """How people sign in by OAuth; null where the app has no sign-in."""
    api_key: AppApiKey | None
    """Present where a connection can be made with a key of the user’s, sent as `api_key`."""


class AppClient(Resource):
    object: Literal["app_client"]
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
    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[OpenaiChatCompletionChoice]
    usage: OpenaiChatCompletionUsage


class OpenaiResponse(Resource):
    id: str
    object: Literal["response"]
    created_at: int
    status: OpenaiResponseStatus
    model: str
    conversation: OpenaiResponseConversation
    output: list[OpenaiResponseOutput]


class OpenaiConversation(Resource):
    id: str
    object: Literal["conversation"]
    created_at: int
    metadata: dict[str, str]


class OpenaiModel(Resource):
    id: str
    """The slug of a deployment."""
    object: Literal["model"]
    created: int
    owned_by: str


class Me(Resource):
    object: Literal["me"]
    org: MeOrg
    mode: Literal["test", "live"]
    key: MeKey | None
    member: MeMember | None


class Org(Resource):
    object: Literal["org"]
    id: str
    name: str
    status: str
    mode: Literal["test", "live"]
    allowed_return_urls: list[str]
    allowed_embed_origins: list[str]
    default_deployment: str | None
    require_user: bool
    memory_panel: bool
    memory_mode: DeploymentVersionManifestMemory
    memory_endpoint: str | None
    otlp_endpoint: str | None
    otlp_headers_secret: str | None
    model_fallbacks: dict[str, list[str]]
    openings: dict[str, OrgOpening]
    balance_usd: float
    """US dollars, at most five decimals"""
    caps: OrgCaps
    usage_alerts: OrgUsageAlerts
    created_at: str


class MemoryEndpoint(Resource):
    object: Literal["memory_endpoint"]
    url: str
    secret: str


class Limits(Resource):
    object: Literal["limits"]
    caps: OrgCaps
    usage_alerts: LimitsUsageAlerts
    rate_limits: LimitsRateLimits


class UsageRow(Resource):
    object: Literal["usage_row"]
    key: str
    label: str | None
    cost_usd: float
    """US dollars, at most five decimals"""
    task_count: int
    input_tokens: int
    output_tokens: int


class LineItem(Resource):
    object: Literal["line_item"]
    id: str
    kind: LineItemKind
    model: str | None
    quantity: float
    unit: str
    unit_price_usd: float
    cost_usd: float
    """US dollars, to the micro-dollar"""
    estimated: Literal[True] | None = None
    """The quantity was counted here: the call was stopped or failed before its vendor said it."""
    task_id: str | None
    conversation_id: str | None
    created_at: str


class AuditEntry(Resource):
    object: Literal["audit_entry"]
    id: str
    action: str
    actor: AuditEntryActor
    target: AuditEntryTarget | None
    ip: str | None
    request_id: str | None
    details: dict[str, Any]
    created_at: str


class Model(Resource):
    object: Literal["model"]
    id: str
    provider: str
    name: str
    default: bool
    context_tokens: int
    max_output_tokens: int
    """The longest answer that is asked for."""
    takes: list[ModelTake]
    reasons: bool
    price: ModelPrice
    priced: bool
    """False: its price is not known, `price` is what test mode counts it as, and live mode refuses it."""
    retires_on: str | None
    replacement: str | None
    available: bool
    unavailable_reason: str | None


class Member(Resource):
    object: Literal["member"]
    id: str
    email: str
    name: str | None
    role: MeMemberRole
    status: Literal["active", "invited"]
    created_at: str


class MemberWithInviteUrl(Member):
    invite_url: str
    invite_expires_at: str


class PasswordReset(Resource):
    object: Literal["password_reset"]
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
    object: Literal["console_session"]
    member: Member
    org: ConsoleSessionOrg
    orgs: list[ConsoleSessionOrg2]
    mode: Literal["test", "live"]
    may: list[str]
    """Every operation that the member’s role may call, as `family.operation` of the route table."""
    csrf_token: str
    expires_at: str


class ConsoleAccount(Resource):
    object: Literal["console_account"]
    member: Member
    """The person as a member of the org that the call names."""
    has_password: bool
    """Whether this session was opened by a login that has a password."""


class ConsoleSignIn(Resource):
    object: Literal["console_sign_in"]
    ended: int
    """How many browsers were logged out."""


class ConsoleSignInWithId(Resource):
    object: Literal["console_sign_in"]
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


class Health(Resource):
    object: Literal["health"]
    status: Literal["ok", "failing"]
    version: str
    checks: dict[str, HealthCheck]


class DeploymentWebhookSecret(Resource):
    endpoint_id: str
    url: str
    secret: str


class DeploymentWarning(Resource):
    param: str
    message: str


class DeploymentVersionManifest(Resource):
    instructions: str
    language: str
    model: str
    apps: list[str] | Literal["all"]
    approvals: list[DeploymentVersionManifestApproval]
    limits: DeploymentVersionManifestLimits
    mcp_servers: list[DeploymentVersionManifestMcpServer]
    mcp_tool_policy: dict[str, DeploymentVersionManifestMcpToolPolicy]
    tools: list[DeploymentVersionManifestTool]
    skills: list[DeploymentVersionManifestSkillById | DeploymentVersionManifestSkillByName]
    notebooks: list[str]
    memory: DeploymentVersionManifestMemory | None
    environment: DeploymentVersionManifestEnvironment | None
    browser: DeploymentVersionManifestBrowser | None


class DeploymentVersionManifestLimits(Resource):
    per_task_usd: float | None = None
    per_turn_usd: float | None = None
    max_steps: int
    max_minutes: int
    ask_above_usd: float | None = None


class DeploymentVersionManifestMcpServer(Resource):
    id: str
    slug: str
    url: str


class DeploymentVersionManifestMcpToolPolicy(Resource):
    deny: list[str]
    require_approval: list[str]
    run_without_asking: list[str]
    approver: Literal["user", "org"]
    """Who says yes where a call waits: the user, or the org by a key or a member."""


class DeploymentVersionManifestTool(Resource):
    function: str
    description: str
    input: dict[str, Any]
    """Argument names and types such as `string`, `integer?`, `string[]`, `small|large`; or a JSON
    Schema of type object
    """
    timeout_s: int
    read_only: bool
    run_without_asking: bool
    approver: Literal["user", "org"]
    """Who says yes where a call waits: the user, or the org by a key or a member."""


class DeploymentVersionManifestSkillById(Resource):
    id: str


class DeploymentVersionManifestSkillByName(Resource):
    name: str


class DeploymentVersionManifestEnvironment(Resource):
    setup: str | None = None
    repos: list[str | DeploymentVersionManifestEnvironmentRepo]
    env: dict[str, str]
    files: list[DeploymentVersionManifestEnvironmentFile]


class DeploymentVersionManifestEnvironmentRepo(Resource):
    url: str
    ref: str | None = None
    path: str | None = None
    token: str | None = None


class DeploymentVersionManifestEnvironmentFile(Resource):
    file_id: str
    path: str


class DeploymentVersionManifestBrowser(Resource):
    allowed_domains: list[str] | None = None
    blocked_paths: list[str] | None = None


class DeploymentVersionTests(Resource):
    run_id: str
    status: DeploymentVersionTestsStatus


class DeploymentVersionCreatedBy(Resource):
    type: DeploymentVersionCreatedByType
    id: str
    name: str


class TestRunCounts(Resource):
    total: int
    queued: int
    running: int
    passed: int
    failed: int
    error: int


class TestRunResult(Resource):
    scenario_id: str
    name: str
    status: DeploymentVersionTestsStatus
    criteria: list[TestRunResultCriteria]
    must_never: list[TestRunResultMustNever]
    judged_by: str | None
    """The model that judged; `offline` is the stand-in, which only matches words. Null before that."""
    conversation_id: str | None
    transcript: list[TestRunResultTranscript]
    """What was said; empty in lists."""
    duration_ms: int
    cost_usd: float
    """US dollars, at most five decimals"""
    error_code: str | None
    error_message: str | None
    """What the code means here, such as which tool server was away; null where there is none."""


class TestRunResultCriteria(Resource):
    text: str
    met: bool
    decided: bool
    """Whether the judge could tell. What it could not tell is neither met nor broken."""
    reason: str


class TestRunResultMustNever(Resource):
    text: str
    broken: bool
    decided: bool
    """Whether the judge could tell. What it could not tell is neither met nor broken."""
    reason: str


class TestRunResultTranscript(Resource):
    role: TestRunResultTranscriptRole
    text: str


class InterviewFile(Resource):
    name: str


class TestRunEventDataByStatus(Resource):
    status: DeploymentVersionTestsStatus
    counts: TestRunCounts
    note: str | None
    """What a reader should know besides the results, such as that the run waits for an index."""
    cost_usd: float
    """US dollars, at most five decimals"""
    results: list[TestRunResult]
    """The results that have changed since the event before."""


class TestRunEventDataByTestRun(Resource):
    test_run: TestRun


class NotebookAccessAll(Resource):
    mode: Literal["all"]


class NotebookAccessUsers(Resource):
    mode: Literal["users"]
    user_ids: list[str]


class SkillFile(Resource):
    path: str
    bytes: int
    content: str


class McpServerAuthNone(Resource):
    type: Literal["none"]


class McpServerAuthHeaders(Resource):
    type: Literal["headers"]
    headers: dict[str, str]


class McpServerTools(Resource):
    deny: list[str]
    require_approval: list[str]


class ConversationOpenWork(Resource):
    task_id: str
    title: str | None
    status: ConversationOpenWorkStatus


class ConversationOpenInteraction(Resource):
    interaction_id: str
    task_id: str | None
    kind: ConversationOpenInteractionKind


class ConversationPendingToolCall(Resource):
    call_id: str
    name: str
    arguments: Any
    task_id: str | None
    progress: str | None = None
    """What whoever answers it said last of how far it is."""


class ConversationCostBreakdown(Resource):
    orchestrator: float
    """US dollars, at most five decimals"""
    intelligence: float
    """US dollars, at most five decimals"""
    tools: float
    """US dollars, at most five decimals"""
    compute: float
    """US dollars, at most five decimals"""
    background: float
    """US dollars, at most five decimals"""
    voice: float
    """US dollars, at most five decimals"""


class TurnReply(Resource):
    text: str
    data: Any
    truncated: Literal[True] | None = None
    """The model ran into its limit of length: the text ends there."""


class TurnError(Resource):
    code: str
    message: str


class MessageAttachment(Resource):
    file_id: str
    filename: str


class TaskProgress(Resource):
    content: str
    status: TaskProgressStatus


class TaskResult(Resource):
    text: str | None
    """The final reply; cut to 280 characters in lists."""
    data: Any
    truncated: Literal[True] | None = None
    """The model ran into its limit of length: the text ends there."""


class TaskOutcome(Resource):
    met: bool
    reason: str


class TaskError(Resource):
    code: str
    message: str


class InteractionQuestion(Resource):
    question: str
    header: str
    options: list[str]
    multi_select: bool


class InteractionBrowser(Resource):
    suggested_mode: Literal["control"]
    url: str | None


class InteractionDetails(Resource):
    """What it is about, by the type."""
    tool_name: str | None = None
    """The tool or function that is called."""
    server: str | None = None
    """The MCP server of the tool."""
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
    app: str | None = None
    """The id of the app to connect."""
    name: str | None = None
    """The app’s name for people."""
    connect: InteractionDetailsConnect | None = None
    """The call that begins the sign-in."""
    connect_url: str | None = None
    """Where the person signs in."""
    asks_for_value: bool | None = None
    """They tell a value: it is answered with `answers`."""
    asks_for_secret: bool | None = None
    """They enter a password, a code or card details: the screen is private."""
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
    """The call that begins the sign-in."""
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
    answers: list[str] | None = None
    reason: str | None = None
    message: str | None = None


class TurnTraceStep(Resource):
    tool_use_id: str
    name: str | None
    input_summary: str | None
    output_summary: str | None
    is_error: bool
    started_at: str
    finished_at: str | None
    duration_ms: int | None
    media: list[TurnTraceStepMedia] | None = None


class TurnTraceStepMedia(Resource):
    media_type: str
    bytes: int
    width: int | None
    height: int | None
    url: str | None = None


class TurnTraceTurn(Resource):
    turn_id: str
    model: str | None
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cache_share: float
    """How much of what the call has read came from the cache of its provider: 0 to 1."""
    cost_usd: float
    """US dollars, at most five decimals"""
    duration_ms: int | None
    status: str | None
    started_at: str


class TurnTraceTotals(Resource):
    input_tokens: int
    output_tokens: int
    cost_usd: float
    """US dollars, at most five decimals"""


class TurnTraceMissingTool(Resource):
    server: str
    """The slug of the server, or the id of the app."""
    reason: TurnTraceMissingToolReason
    message: str


class FunctionEndpointLastFailure(Resource):
    message: str
    at: str


class TaskTraceTotals(Resource):
    input_tokens: int
    output_tokens: int
    cost_usd: float
    """US dollars, at most five decimals"""


class TaskTraceMissingTool(Resource):
    server: str
    """The slug of the server, or the id of the app."""
    reason: TurnTraceMissingToolReason
    message: str


class BatchCounts(Resource):
    queued: int
    running: int
    succeeded: int
    failed: int
    cancelled: int


class BatchItemResult(Resource):
    reply: str
    """The one line an item gets when it is taken."""
    text: str | None
    """The final reply of the work."""
    data: Any
    outcome: BatchItemResultOutcome | None


class BatchItemResultOutcome(Resource):
    met: bool
    reason: str


class BatchItemError(Resource):
    code: str
    message: str


class RoutineSchedule(Resource):
    every: str | None
    cron: str
    timezone: str


class RoutineTrigger(Resource):
    filters: dict[str, Any] | None


class RoutineLastError(Resource):
    code: str
    message: str
    at: str


class RoutineRun2(Resource):
    conversation_id: str
    turn_id: str


class UserCapsRemaining(Resource):
    day_usd: float | None
    month_usd: float | None


class BrowserFetchCapture(Resource):
    match: str
    url: str
    status: int
    content_type: str
    body: Any
    truncated: bool


class BrowserFetchStep(Resource):
    kind: BrowserFetchStepKind
    ok: bool
    duration_ms: int
    result: Any


class BrowserFetchTimings(Resource):
    wake_ms: int
    open_ms: int
    capture_ms: int
    total_ms: int


class BrowserFetchFrame(Resource):
    milestone: str
    at_ms: int
    image: str


class BrowserCookiesCookie(Resource):
    name: str
    domain: str
    expires_at: str | None


class SessionOpening(Resource):
    message: str | None = None
    suggestions: list[str]


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
    message: OpenaiChatCompletionChoiceMessage
    finish_reason: str


class OpenaiChatCompletionChoiceMessage(Resource):
    pass


class OpenaiChatCompletionUsage(Resource):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class OpenaiResponseConversation(Resource):
    id: str


class OpenaiResponseOutput(Resource):
    type: str


class MeOrg(Resource):
    id: str
    name: str
    status: str


class MeKey(Resource):
    id: str
    name: str
    last4: str


class MeMember(Resource):
    role: MeMemberRole


class OrgOpening(Resource):
    message: str | None = None
    suggestions: list[str]


class OrgCaps(Resource):
    org_daily_usd: float | None
    user_daily_usd: float | None
    max_org_daily_usd: float
    org_monthly_usd: float | None
    user_monthly_usd: float | None


class OrgUsageAlerts(Resource):
    thresholds: list[int]


class LimitsUsageAlerts(Resource):
    thresholds: list[int]


class LimitsRateLimits(Resource):
    requests_per_minute: int
    burst: int


class AuditEntryActor(Resource):
    type: AuditEntryActorType
    id: str
    name: str


class AuditEntryTarget(Resource):
    type: str
    id: str


class ModelPrice(Resource):
    input_per_mtok: float
    output_per_mtok: float
    cache_read_per_mtok: float
    cache_write_per_mtok: float
    cache_write_long_per_mtok: float
    """Of what is kept for the longer of the times that its provider offers."""
    above: ModelPriceAbove | None
    """What a whole call costs that reads more than so many tokens."""


class ModelPriceAbove(Resource):
    input_tokens: int
    input_per_mtok: float
    output_per_mtok: float
    cache_read_per_mtok: float
    cache_write_per_mtok: float
    cache_write_long_per_mtok: float
    """Of what is kept for the longer of the times that its provider offers."""


class ConsoleSessionOrg(Resource):
    id: str
    name: str
    status: str


class ConsoleSessionOrg2(Resource):
    id: str
    name: str
    status: str
    role: MeMemberRole


class HealthCheck(Resource):
    status: Literal["ok", "failing"]
    message: str | None


class TurnStartedEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["turn.started"]
    data: TurnStartedData


class TurnStartedData(Resource):
    turn: Turn


class ReplyDeltaEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["reply.delta"]
    data: ReplyDeltaData


class ReplyDeltaData(Resource):
    text: str
    message_id: str


class ReplyCompletedEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["reply.completed"]
    data: ReplyCompletedData


class ReplyCompletedData(Resource):
    message: Message


class TurnFailedEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["turn.failed"]
    data: TurnFailedData


class TurnFailedData(Resource):
    turn: Turn


class TurnSettledEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["turn.settled"]
    data: TurnSettledData


class TurnSettledData(Resource):
    turn: Turn


class TaskStartedEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["task.started"]
    data: TaskStartedData


class TaskStartedData(Resource):
    task: Task


class TaskProgressEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["task.progress"]
    data: TaskProgressData


class TaskProgressData(Resource):
    title: str | None
    progress: list[TaskProgressDataProgress]


class TaskProgressDataProgress(Resource):
    content: str
    status: TaskProgressStatus


class TaskStepEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["task.step"]
    data: TaskStepData


class TaskStepData(Resource):
    step: TurnTraceStep


class TaskCompletedEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["task.completed"]
    data: TaskCompletedData


class TaskCompletedData(Resource):
    task: Task


class TaskFailedEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["task.failed"]
    data: TaskFailedData


class TaskFailedData(Resource):
    task: Task


class TaskStoppedEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["task.stopped"]
    data: TaskStoppedData


class TaskStoppedData(Resource):
    task: Task
    reason: str | None = None
    message: str | None = None


class InteractionCreatedEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["interaction.created"]
    data: InteractionCreatedData


class InteractionCreatedData(Resource):
    interaction: Interaction


class InteractionResolvedEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["interaction.resolved"]
    data: InteractionResolvedData


class InteractionResolvedData(Resource):
    interaction: Interaction


class ToolCallCreatedEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["tool_call.created"]
    data: ToolCallCreatedData


class ToolCallCreatedData(Resource):
    call: ConversationPendingToolCall


class ToolCallProgressEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["tool_call.progress"]
    data: ToolCallProgressData


class ToolCallProgressData(Resource):
    call_id: str
    name: str
    text: str


class FileCreatedEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["file.created"]
    data: FileCreatedData


class FileCreatedData(Resource):
    file: File


class ToolServerAwayEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["tool_server.away"]
    data: ToolServerAwayData


class ToolServerAwayData(Resource):
    server: str
    """The slug of the server, or the id of the app."""
    reason: TurnTraceMissingToolReason
    user_id: str | None
    """Null: it concerns every user."""


class ConversationStatusEvent(Resource):
    object: Literal["event"]
    id: str
    seq: int
    """Counts up from 1 within the conversation, without gaps."""
    conversation_id: str | None
    task_id: str | None
    turn_id: str | None
    deployment_id: str | None
    created_at: str
    type: Literal["conversation.status"]
    data: ConversationStatusData


class ConversationStatusData(Resource):
    status: ConversationStatus


class WebhookConversationCreatedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["conversation.created"]
    data: Conversation


class WebhookReplyCompletedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["reply.completed"]
    data: Message


class WebhookTurnFailedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["turn.failed"]
    data: Turn


class WebhookTaskStartedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["task.started"]
    data: Task


class WebhookTaskCompletedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["task.completed"]
    data: Task


class WebhookTaskFailedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["task.failed"]
    data: Task


class WebhookTaskStoppedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["task.stopped"]
    data: TaskWithReason


class WebhookInteractionCreatedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["interaction.created"]
    data: Interaction


class WebhookInteractionResolvedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["interaction.resolved"]
    data: Interaction


class WebhookInteractionExpiredEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["interaction.expired"]
    data: Interaction


class WebhookFileCreatedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["file.created"]
    data: File


class WebhookRoutineRanEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["routine.ran"]
    data: RoutineWithRun


class WebhookRoutineFailedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["routine.failed"]
    data: RoutineWithReason


class WebhookBatchCompletedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["batch.completed"]
    data: Batch


class WebhookTestRunCompletedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["test_run.completed"]
    data: TestRun


class WebhookDeploymentPromotedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["deployment.promoted"]
    data: DeploymentWithVersion


class WebhookDeploymentRolledBackEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["deployment.rolled_back"]
    data: DeploymentWithVersionAndPreviousVersion


class WebhookToolServerAwayEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["tool_server.away"]
    data: ToolServer


class WebhookConnectionFailedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["connection.failed"]
    data: Connection


class WebhookUserCreatedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["user.created"]
    data: User


class WebhookUserDeletedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["user.deleted"]
    data: Deleted


class WebhookKeyCreatedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["key.created"]
    data: Key


class WebhookKeyRolledEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["key.rolled"]
    data: Key


class WebhookKeyRevokedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["key.revoked"]
    data: Key


class WebhookUsageThresholdReachedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["usage.threshold_reached"]
    data: UsageAlert


class WebhookUsageCapReachedEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["usage.cap_reached"]
    data: UsageAlert


class WebhookDisabledEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["webhook.disabled"]
    data: WebhookEndpoint


class WebhookTestEvent(Resource):
    object: Literal["event"]
    id: str
    created_at: str
    mode: Literal["test", "live"]
    org_id: str
    type: Literal["webhook.test"]
    data: WebhookEndpoint


class GeneratedScenarios(Resource):
    object: Literal["list"]
    data: list[GeneratedScenario]


class GeneratedScenario(Resource):
    name: str
    persona: str
    goal: str
    success_criteria: list[str]
    must_never: list[str]
    tool_results: dict[str, Any] | None = None
    approves: bool | None = None


class McpServerCheck(Resource):
    ok: bool
    tools: list[McpServerCheckTool]
    notes: list[str]
    """What an agent is not shown of these tools, such as the end of a long description."""
    error: McpServerCheckError | None


class McpServerCheckTool(Resource):
    name: str
    description: str
    read_only: bool


class McpServerCheckError(Resource):
    code: str
    message: str


class ConversationEvents(Resource):
    data: list[StreamEvent]
    next_after: int | None


class DeclaredFunctions(Resource):
    deployment_id: str
    version: int
    data: list[DeclaredFunction]


class DeclaredFunction(Resource):
    name: str
    description: str
    input_schema: dict[str, Any]
    """What its arguments fit, as a JSON Schema."""
    timeout_s: int
    read_only: bool
    run_without_asking: bool


class TakenCalls(Resource):
    data: list[ToolCall]


class RenewedCall(Resource):
    call_id: str
    taken_until: str


class ReleasedCall(Resource):
    call_id: str
    released: Literal[True]


class DeletedUser(Resource):
    object: Literal["user"]
    id: str
    deleted: Literal[False]
    status: Literal["deleting"]


class WarmedUser(Resource):
    user_id: str
    status: Literal["ready", "waking"]


class MemorySearch(Resource):
    query: str
    found: bool
    text: str | None


class AgentCard(Resource):
    name: str
    description: str
    supportedInterfaces: list[AgentCardSupportedInterface]
    provider: AgentCardProvider | None = None
    version: str
    """The live version."""
    documentationUrl: str | None = None
    capabilities: AgentCardCapabilities
    securitySchemes: dict[str, Any]
    securityRequirements: list[dict[str, Any]] | None = None
    defaultInputModes: list[str]
    defaultOutputModes: list[str]
    skills: list[AgentCardSkill]


class AgentCardSupportedInterface(Resource):
    url: str
    protocolBinding: Literal["JSONRPC"]
    protocolVersion: str


class AgentCardProvider(Resource):
    url: str
    organization: str


class AgentCardCapabilities(Resource):
    streaming: Literal[True]
    pushNotifications: Literal[False]
    extendedAgentCard: Literal[False]


class AgentCardSkill(Resource):
    id: str
    name: str
    description: str
    tags: list[str]
    examples: list[str]
    inputModes: list[str]
    outputModes: list[str]


class OpenaiModels(Resource):
    object: Literal["list"]
    data: list[OpenaiModel]


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
]
"""One event of a conversation."""
WebhookEvent = Union[
    WebhookConversationCreatedEvent,
    WebhookReplyCompletedEvent,
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
    WebhookDeploymentPromotedEvent,
    WebhookDeploymentRolledBackEvent,
    WebhookToolServerAwayEvent,
    WebhookConnectionFailedEvent,
    WebhookUserCreatedEvent,
    WebhookUserDeletedEvent,
    WebhookKeyCreatedEvent,
    WebhookKeyRolledEvent,
    WebhookKeyRevokedEvent,
    WebhookUsageThresholdReachedEvent,
    WebhookUsageCapReachedEvent,
    WebhookDisabledEvent,
    WebhookTestEvent,
]
"""One event as it is delivered to a webhook endpoint."""
