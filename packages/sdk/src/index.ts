/** The exports of `@vestra/sdk`: everything that runs anywhere. `@vestra/sdk/apply` reads folders and needs Node. */
export type { InteractionDetails } from '@vestra/contract/interaction-details';
export { type Client, createClient } from './client.ts';
export { answer } from './commands/answer.ts';
export { type Asked, type AskOptions, ask } from './commands/ask.ts';
export { embed } from './commands/embed.ts';
export { events } from './commands/events.ts';
export { type TestOptions, type TestProgress, test } from './commands/test.ts';
export { VestraError, type VestraErrorCode } from './errors.ts';
export { type FunctionEndpointOptions, functionEndpoint } from './function-endpoint.ts';
export {
  defineFunction,
  type FunctionContext,
  type ServeEvent,
  type ServeOptions,
  serveFunctions,
  ToolError,
} from './functions.ts';
export { pages } from './pages.ts';
export type {
  App,
  AuditEntry,
  Batch,
  BatchItem,
  Connection,
  Conversation,
  Deployment,
  DeploymentVersion,
  Document,
  FunctionCall,
  FunctionEndpoint,
  Health,
  Interaction,
  Key,
  Limits,
  LineItem,
  McpGrant,
  McpServer,
  Me,
  Member,
  Memory,
  Message,
  Model,
  Notebook,
  Org,
  Routine,
  RoutineRun,
  Scenario,
  Secret,
  Session,
  Skill,
  SkillVersion,
  StoredFile,
  Task,
  TaskTrace,
  TestRun,
  Turn,
  TurnTrace,
  UsageRow,
  User,
  WebhookDelivery,
  WebhookEndpoint,
} from './resources.ts';
export { followConversation, followTestRun, followTurn, type StreamEvent } from './stream.ts';
export { type AnswerOptions, answerToolCalls } from './tools.ts';
export type { CallOptions, TransportOptions as ClientOptions } from './transport.ts';
export { signWebhook, verifyWebhook, WebhookError, type WebhookEvent } from './webhook.ts';
export { yesTo } from './yes.ts';
