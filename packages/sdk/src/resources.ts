import type { Api } from '@vestra/contract/api';
import type { AnswerOf } from '@vestra/contract/call';

type ItemOf<Page extends { data: readonly unknown[] }> = Page['data'][number];

// The resources of the service, as their routes return them.

export type App = ItemOf<AnswerOf<Api['apps']['list']>>;
export type AuditEntry = ItemOf<AnswerOf<Api['auditLog']['list']>>;
export type Batch = AnswerOf<Api['batches']['get']>;
export type BatchItem = ItemOf<AnswerOf<Api['batches']['items']>>;
export type Connection = ItemOf<AnswerOf<Api['connections']['list']>>;
export type Conversation = AnswerOf<Api['conversations']['get']>;
export type Deployment = AnswerOf<Api['deployments']['get']>;
export type DeploymentVersion = AnswerOf<Api['deployments']['getVersion']>;
/** A document of a notebook in a list, without its text. */
export type Document = ItemOf<AnswerOf<Api['notebooks']['listDocuments']>>;
export type FunctionCall = ItemOf<AnswerOf<Api['functions']['take']>>;
export type FunctionEndpoint = AnswerOf<Api['functions']['endpoint']>;
export type Health = AnswerOf<Api['health']['get']>;
/** A pending request of the agent. Its `type` determines its `details`. */
export type Interaction = AnswerOf<Api['interactions']['get']>;
export type Key = ItemOf<AnswerOf<Api['keys']['list']>>;
export type Limits = AnswerOf<Api['limits']['get']>;
export type LineItem = ItemOf<AnswerOf<Api['usage']['lineItems']>>;
export type McpGrant = ItemOf<AnswerOf<Api['mcpGrants']['list']>>;
export type McpServer = AnswerOf<Api['mcpServers']['get']>;
export type Me = AnswerOf<Api['me']['get']>;
export type Member = ItemOf<AnswerOf<Api['members']['list']>>;
/** A stored fact about a user. */
export type Memory = ItemOf<AnswerOf<Api['memory']['list']>>;
export type Message = ItemOf<AnswerOf<Api['conversations']['messages']>>;
export type Model = ItemOf<AnswerOf<Api['models']['list']>>;
export type Notebook = AnswerOf<Api['notebooks']['get']>;
export type Org = AnswerOf<Api['orgs']['get']>;
export type Routine = AnswerOf<Api['routines']['get']>;
export type RoutineRun = AnswerOf<Api['routines']['run']>;
export type Scenario = AnswerOf<Api['scenarios']['get']>;
export type Secret = ItemOf<AnswerOf<Api['secrets']['list']>>;
export type Session = AnswerOf<Api['sessions']['get']>;
export type Skill = AnswerOf<Api['skills']['get']>;
export type SkillVersion = ItemOf<AnswerOf<Api['skills']['versions']>>;
export type StoredFile = ItemOf<AnswerOf<Api['files']['list']>>;
export type Task = AnswerOf<Api['tasks']['get']>;
export type TaskTrace = AnswerOf<Api['tasks']['trace']>;
export type TestRun = AnswerOf<Api['testRuns']['get']>;
/** One message to the agent and everything that followed. */
export type Turn = AnswerOf<Api['conversations']['send']>;
export type TurnTrace = AnswerOf<Api['conversations']['trace']>;
export type UsageRow = ItemOf<AnswerOf<Api['usage']['report']>>;
export type User = AnswerOf<Api['users']['get']>;
export type WebhookDelivery = ItemOf<AnswerOf<Api['webhooks']['deliveries']>>;
export type WebhookEndpoint = AnswerOf<Api['webhooks']['get']>;
