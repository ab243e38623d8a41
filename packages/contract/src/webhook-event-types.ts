/** What webhook endpoints may ask for, and what the list of events holds. */
export const webhookEventTypes = [
  'conversation.created',
  'reply.completed',
  'task.started',
  'task.completed',
  'task.failed',
  'task.stopped',
  'interaction.created',
  'interaction.resolved',
  'interaction.expired',
  'file.created',
  'routine.ran',
  'batch.completed',
  'test_run.completed',
  'deployment.promoted',
  'deployment.rolled_back',
  'user.created',
  'user.deleted',
  'key.created',
  'key.rolled',
  'key.revoked',
  'usage.threshold_reached',
  'usage.cap_reached',
  'webhook.disabled',
  'webhook.test',
] as const;

export type WebhookEventType = (typeof webhookEventTypes)[number];
