import { area } from '../requirement.ts';

export const otlp = area('otlp', 'done', [
  [
    'OTLP-001',
    'docs/traces.md#traces-for-an-orgs-own-collector',
    'With `otlp_endpoint` set traces are sent as OpenTelemetry over HTTP; with null none are.',
  ],
  [
    'OTLP-002',
    'docs/traces.md#traces-for-an-orgs-own-collector',
    'The value of `otlp_headers_secret` is a JSON object whose names and values are sent as headers.',
  ],
  ['OTLP-003', 'docs/traces.md#traces-for-an-orgs-own-collector', 'Each turn or task is one trace.'],
  [
    'OTLP-004',
    'docs/traces.md#traces-for-an-orgs-own-collector',
    'A trace has a span per model call and one per tool step.',
  ],
  ['OTLP-005', 'docs/traces.md#traces-for-an-orgs-own-collector', 'Spans follow the GenAI semantic conventions.'],
  [
    'OTLP-006',
    'docs/traces.md#traces-for-an-orgs-own-collector',
    'No span carries content of messages, tool inputs or results, unless the org asks for it.',
  ],
  [
    'OTLP-007',
    'docs/server-reference.md#settings-of-the-start',
    'A private OTLP address is refused unless `VESTRA_ALLOW_PRIVATE_ADDRESSES` is set.',
  ],
  [
    'OTLP-360',
    'docs/traces.md#traces-for-an-orgs-own-collector',
    'Spans name the agent, the user, the cost, the model that answered and why it ended, by the GenAI conventions.',
  ],
  [
    'OTLP-361',
    'docs/traces.md#traces-for-an-orgs-own-collector',
    'The `traceparent` of a message makes its turn a part of the caller’s trace; a session’s is not read.',
  ],
  [
    'OTLP-362',
    'docs/traces.md#traces-for-an-orgs-own-collector',
    'With `otlp_content` of the org, per mode, spans hold what was said, given and answered, without credentials.',
  ],
]);
