import { area } from '../requirement.ts';

export const otlp = area('otlp', 'done', [
  [
    'OTLP-001',
    'runtime.md · Account',
    'With `otlp_endpoint` set traces are sent as OpenTelemetry over HTTP; with null none are.',
  ],
  [
    'OTLP-002',
    'runtime.md · Account',
    'The value of `otlp_headers_secret` is a JSON object whose names and values are sent as headers.',
  ],
  ['OTLP-003', 'decisions.md · 7', 'Each turn or task is one trace.'],
  ['OTLP-004', 'decisions.md · 7', 'A trace has a span per model call and one per tool step.'],
  ['OTLP-005', 'decisions.md · 7', 'Spans follow the GenAI semantic conventions.'],
  [
    'OTLP-006',
    'decisions.md · 7',
    'No span carries content of messages, tool inputs or results, unless the org asks for it.',
  ],
  [
    'OTLP-007',
    'decisions.md · 10',
    'A private OTLP address is refused unless `VESTRA_ALLOW_PRIVATE_ADDRESSES` is set.',
  ],
  [
    'OTLP-360',
    'decisions.md · 11',
    'Spans name the agent, the user, the cost, the model that answered and why it ended, by the GenAI conventions.',
  ],
  [
    'OTLP-361',
    'decisions.md · 11',
    'The `traceparent` of a message makes its turn a part of the caller’s trace; a session’s is not read.',
  ],
  [
    'OTLP-362',
    'decisions.md · 11',
    'With `otlp_content` of the org, per mode, spans hold what was said, given and answered, without credentials.',
  ],
]);
