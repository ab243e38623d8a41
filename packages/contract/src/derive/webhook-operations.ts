import { webhookEvent } from '../events.ts';
import { toJsonSchema } from './json-schema.ts';

const headers = {
  'webhook-id': 'The id of the event, the same however often it is sent: handle each once.',
  'webhook-timestamp': 'When it was sent, in seconds since 1970: refuse what is older than a few minutes.',
  'webhook-signature':
    '`v1,` and the base64 of HMAC-SHA256 over `<id>.<timestamp>.<raw body>`; one for each secret that is in force.',
};

const parameters = Object.entries(headers).map(([name, description]) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
}));

/** OpenAPI's `webhooks`: the requests to endpoints, by event type. */
export function webhookOperations() {
  return Object.fromEntries(
    webhookEvent.options.map((event) => {
      const type = event.shape.type.value;
      const description = event.description ?? '';
      const operation = {
        operationId: `webhook_${type.replaceAll('.', '_')}`,
        tags: ['Webhooks'],
        summary: description,
        description: 'Posted to every active endpoint of the mode that subscribed to this type, or to all.',
        security: [],
        parameters,
        requestBody: { required: true, content: { 'application/json': { schema: toJsonSchema(event, 'output') } } },
        responses: {
          '2XX': { description: 'Within 15 seconds: it has arrived and is not sent again.' },
          '410': { description: 'The endpoint is gone: it is disabled.' },
          default: { description: 'It is sent again, ten times within three days.' },
        },
      };
      return [type, { post: operation }];
    }),
  );
}
