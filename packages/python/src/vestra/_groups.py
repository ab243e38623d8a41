"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from ._transport import Transport
from .resources.ag_ui import AsyncAgUi, AgUi
from .resources.apps import AsyncApps, Apps
from .resources.audit_log import AsyncAuditLog, AuditLog
from .resources.batches import AsyncBatches, Batches
from .resources.browser import AsyncBrowser, Browser
from .resources.connections import AsyncConnections, Connections
from .resources.console_access import AsyncConsoleAccess, ConsoleAccess
from .resources.console_account import AsyncConsoleAccount, ConsoleAccount
from .resources.console_sign_in import AsyncConsoleSignIn, ConsoleSignIn
from .resources.conversations import AsyncConversations, Conversations
from .resources.deployments import AsyncDeployments, Deployments
from .resources.events import AsyncEvents, Events
from .resources.feedback import AsyncFeedback, Feedback
from .resources.files import AsyncFiles, Files
from .resources.functions import AsyncFunctions, Functions
from .resources.health import AsyncHealth, Health
from .resources.identity_provider import AsyncIdentityProvider, IdentityProvider
from .resources.interactions import AsyncInteractions, Interactions
from .resources.keys import AsyncKeys, Keys
from .resources.limits import AsyncLimits, Limits
from .resources.mcp_grants import AsyncMcpGrants, McpGrants
from .resources.mcp_servers import AsyncMcpServers, McpServers
from .resources.me import AsyncMe, Me
from .resources.members import AsyncMembers, Members
from .resources.memory import AsyncMemory, Memory
from .resources.models import AsyncModels, Models
from .resources.notebooks import AsyncNotebooks, Notebooks
from .resources.oauth import AsyncOauth, Oauth
from .resources.openai import AsyncOpenai, Openai
from .resources.orgs import AsyncOrgs, Orgs
from .resources.passkeys import AsyncPasskeys, Passkeys
from .resources.protocols import AsyncProtocols, Protocols
from .resources.replays import AsyncReplays, Replays
from .resources.routines import AsyncRoutines, Routines
from .resources.scenarios import AsyncScenarios, Scenarios
from .resources.secrets import AsyncSecrets, Secrets
from .resources.sessions import AsyncSessions, Sessions
from .resources.skills import AsyncSkills, Skills
from .resources.tasks import AsyncTasks, Tasks
from .resources.test_runs import AsyncTestRuns, TestRuns
from .resources.usage import AsyncUsage, Usage
from .resources.users import AsyncUsers, Users
from .resources.webhooks import AsyncWebhooks, Webhooks


class Groups:
    """Every family of routes as a group of methods."""

    deployments: Deployments
    scenarios: Scenarios
    test_runs: TestRuns
    replays: Replays
    notebooks: Notebooks
    skills: Skills
    mcp_servers: McpServers
    secrets: Secrets
    conversations: Conversations
    feedback: Feedback
    interactions: Interactions
    functions: Functions
    tasks: Tasks
    batches: Batches
    routines: Routines
    users: Users
    browser: Browser
    memory: Memory
    files: Files
    sessions: Sessions
    webhooks: Webhooks
    events: Events
    apps: Apps
    connections: Connections
    protocols: Protocols
    oauth: Oauth
    openai: Openai
    ag_ui: AgUi
    me: Me
    orgs: Orgs
    keys: Keys
    mcp_grants: McpGrants
    limits: Limits
    usage: Usage
    audit_log: AuditLog
    models: Models
    members: Members
    console_access: ConsoleAccess
    console_account: ConsoleAccount
    console_sign_in: ConsoleSignIn
    passkeys: Passkeys
    identity_provider: IdentityProvider
    health: Health

    def _add_groups(self, transport: Transport) -> None:
        self.deployments = Deployments(transport)
        self.scenarios = Scenarios(transport)
        self.test_runs = TestRuns(transport)
        self.replays = Replays(transport)
        self.notebooks = Notebooks(transport)
        self.skills = Skills(transport)
        self.mcp_servers = McpServers(transport)
        self.secrets = Secrets(transport)
        self.conversations = Conversations(transport)
        self.feedback = Feedback(transport)
        self.interactions = Interactions(transport)
        self.functions = Functions(transport)
        self.tasks = Tasks(transport)
        self.batches = Batches(transport)
        self.routines = Routines(transport)
        self.users = Users(transport)
        self.browser = Browser(transport)
        self.memory = Memory(transport)
        self.files = Files(transport)
        self.sessions = Sessions(transport)
        self.webhooks = Webhooks(transport)
        self.events = Events(transport)
        self.apps = Apps(transport)
        self.connections = Connections(transport)
        self.protocols = Protocols(transport)
        self.oauth = Oauth(transport)
        self.openai = Openai(transport)
        self.ag_ui = AgUi(transport)
        self.me = Me(transport)
        self.orgs = Orgs(transport)
        self.keys = Keys(transport)
        self.mcp_grants = McpGrants(transport)
        self.limits = Limits(transport)
        self.usage = Usage(transport)
        self.audit_log = AuditLog(transport)
        self.models = Models(transport)
        self.members = Members(transport)
        self.console_access = ConsoleAccess(transport)
        self.console_account = ConsoleAccount(transport)
        self.console_sign_in = ConsoleSignIn(transport)
        self.passkeys = Passkeys(transport)
        self.identity_provider = IdentityProvider(transport)
        self.health = Health(transport)


class AsyncGroups:
    """Every family of routes as a group of methods."""

    deployments: AsyncDeployments
    scenarios: AsyncScenarios
    test_runs: AsyncTestRuns
    replays: AsyncReplays
    notebooks: AsyncNotebooks
    skills: AsyncSkills
    mcp_servers: AsyncMcpServers
    secrets: AsyncSecrets
    conversations: AsyncConversations
    feedback: AsyncFeedback
    interactions: AsyncInteractions
    functions: AsyncFunctions
    tasks: AsyncTasks
    batches: AsyncBatches
    routines: AsyncRoutines
    users: AsyncUsers
    browser: AsyncBrowser
    memory: AsyncMemory
    files: AsyncFiles
    sessions: AsyncSessions
    webhooks: AsyncWebhooks
    events: AsyncEvents
    apps: AsyncApps
    connections: AsyncConnections
    protocols: AsyncProtocols
    oauth: AsyncOauth
    openai: AsyncOpenai
    ag_ui: AsyncAgUi
    me: AsyncMe
    orgs: AsyncOrgs
    keys: AsyncKeys
    mcp_grants: AsyncMcpGrants
    limits: AsyncLimits
    usage: AsyncUsage
    audit_log: AsyncAuditLog
    models: AsyncModels
    members: AsyncMembers
    console_access: AsyncConsoleAccess
    console_account: AsyncConsoleAccount
    console_sign_in: AsyncConsoleSignIn
    passkeys: AsyncPasskeys
    identity_provider: AsyncIdentityProvider
    health: AsyncHealth

    def _add_groups(self, transport: Transport) -> None:
        self.deployments = AsyncDeployments(transport)
        self.scenarios = AsyncScenarios(transport)
        self.test_runs = AsyncTestRuns(transport)
        self.replays = AsyncReplays(transport)
        self.notebooks = AsyncNotebooks(transport)
        self.skills = AsyncSkills(transport)
        self.mcp_servers = AsyncMcpServers(transport)
        self.secrets = AsyncSecrets(transport)
        self.conversations = AsyncConversations(transport)
        self.feedback = AsyncFeedback(transport)
        self.interactions = AsyncInteractions(transport)
        self.functions = AsyncFunctions(transport)
        self.tasks = AsyncTasks(transport)
        self.batches = AsyncBatches(transport)
        self.routines = AsyncRoutines(transport)
        self.users = AsyncUsers(transport)
        self.browser = AsyncBrowser(transport)
        self.memory = AsyncMemory(transport)
        self.files = AsyncFiles(transport)
        self.sessions = AsyncSessions(transport)
        self.webhooks = AsyncWebhooks(transport)
        self.events = AsyncEvents(transport)
        self.apps = AsyncApps(transport)
        self.connections = AsyncConnections(transport)
        self.protocols = AsyncProtocols(transport)
        self.oauth = AsyncOauth(transport)
        self.openai = AsyncOpenai(transport)
        self.ag_ui = AsyncAgUi(transport)
        self.me = AsyncMe(transport)
        self.orgs = AsyncOrgs(transport)
        self.keys = AsyncKeys(transport)
        self.mcp_grants = AsyncMcpGrants(transport)
        self.limits = AsyncLimits(transport)
        self.usage = AsyncUsage(transport)
        self.audit_log = AsyncAuditLog(transport)
        self.models = AsyncModels(transport)
        self.members = AsyncMembers(transport)
        self.console_access = AsyncConsoleAccess(transport)
        self.console_account = AsyncConsoleAccount(transport)
        self.console_sign_in = AsyncConsoleSignIn(transport)
        self.passkeys = AsyncPasskeys(transport)
        self.identity_provider = AsyncIdentityProvider(transport)
        self.health = AsyncHealth(transport)
