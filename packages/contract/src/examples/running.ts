import { type ExampleCall, exampleId, exampleTime, step } from './step.ts';

const user = { user_id: 'nora' };
const conversation = { conversation_id: exampleId('conv') };
const call = { call_id: exampleId('call', 2) };
const task = { task_id: exampleId('task') };
const batch = { batch_id: exampleId('bat') };
const routine = { routine_id: exampleId('rtn') };
const session = { session_id: exampleId('ses') };
const endpoint = { endpoint_id: exampleId('whk') };
const file = { file_id: exampleId('file') };

const waited = { Prefer: 'wait=30' };
const asksForOrder = { message: 'Find order number MT-1042.' };

/** The agent at work: users, conversations, tasks and notifications. */
export const running: readonly ExampleCall[] = [
  step('webhooks.create', {
    body: { url: 'https://shop.example.com/hooks', events: ['task.completed', 'interaction.created'] },
  }),
  step('webhooks.list'),
  step('webhooks.get', { params: endpoint }),
  step('webhooks.update', { params: endpoint, body: { description: 'Tells the warehouse.' } }),
  step('webhooks.rollSecret', { params: endpoint }),
  step('users.create', { body: { user_id: 'nora', name: 'Nora Lind', locale: 'en', timezone: 'Europe/Oslo' } }),
  step('users.get', { params: user }),
  step('users.list'),
  step('users.update', { params: user, body: { spend_cap_usd: 2 } }),
  step('conversations.create', { body: { user_id: 'nora', deployment: 'support-desk', metadata: { channel: 'web' } } }),
  step('conversations.send', {
    params: conversation,
    headers: waited,
    body: { message: 'When are you open?' },
  }),
  step('conversations.messages', { params: conversation }),
  step('conversations.messageSources', { params: { ...conversation, message_id: exampleId('msg', 1) } }),
  step('feedback.rate', {
    params: { message_id: exampleId('msg', 1) },
    body: { rating: 'bad', note: 'It says nothing of Sundays.' },
  }),
  step('feedback.ofConversation', { params: conversation }),
  step('feedback.list', { params: { deployment_id: 'support-desk' }, query: { rating: 'bad' } }),
  step('insights.list', { params: { deployment_id: 'support-desk' }, query: { kind: 'bad_rating' } }),
  step('feedback.counts', { params: { deployment_id: 'support-desk' } }),
  step('conversations.events', { params: conversation, query: { format: 'json', limit: 3 } }),
  step('conversations.get', { params: conversation }),
  step('conversations.list', { query: { user_id: 'nora' } }),
  step('conversations.send', { params: conversation, headers: waited, body: asksForOrder }),
  step('interactions.list', { query: { type: 'tool_call' } }),
  step('interactions.get', { params: { interaction_id: exampleId('call', 2) } }),
  step('functions.take', { params: { deployment_id: 'support-desk' }, body: { functions: ['find_order'] } }),
  step('functions.renew', { params: call, body: { claim_id: 'claim_1', progress: 'Asking the warehouse' } }),
  step('functions.release', { params: call, body: { claim_id: 'claim_1' } }),
  step('interactions.answer', {
    params: { interaction_id: exampleId('call', 2) },
    body: { output: { order_number: 'MT-1042', state: 'on its way', arrives_on: '2026-11-18' } },
  }),
  step('conversations.create', { body: { user_id: 'nora', deployment: 'support-desk' } }),
  step('conversations.send', {
    params: { conversation_id: exampleId('conv', 2) },
    headers: waited,
    body: asksForOrder,
  }),
  step('interactions.cancel', { params: { interaction_id: exampleId('call', 3) } }),
  step('conversations.stop', { params: { conversation_id: exampleId('conv', 2) } }),
  step('conversations.turn', { params: { ...conversation, turn_id: exampleId('turn') } }),
  step('conversations.trace', { params: { ...conversation, turn_id: exampleId('turn') } }),
  step('conversations.send', {
    params: conversation,
    headers: waited,
    body: {
      message: 'When is the shop open?',
      hand_off: 'always',
      output_schema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
    },
  }),
  step('conversations.draftScenario', { params: conversation, body: { ...task } }),
  step('replays.create', {
    params: { deployment_id: 'support-desk' },
    body: { conversation_ids: [exampleId('conv')] },
  }),
  step('replays.list', { params: { deployment_id: 'support-desk' } }),
  step('replays.get', { params: { replay_id: exampleId('rpl') } }),
  step('replays.cancel', { params: { replay_id: exampleId('rpl') } }),
  step('improvements.create', {
    params: { deployment_id: 'support-desk' },
    body: { from: { type: 'conversations', conversation_ids: [exampleId('conv')] }, budget_usd: 5 },
  }),
  step('improvements.list', { params: { deployment_id: 'support-desk' } }),
  step('improvements.get', { params: { improvement_id: exampleId('imp') } }),
  step('improvements.cancel', { params: { improvement_id: exampleId('imp') } }),
  step('replays.delete', { params: { replay_id: exampleId('rpl') } }),
  step('tasks.list'),
  step('tasks.get', { params: task }),
  step('tasks.data', { params: task }),
  step('tasks.trace', { params: task }),
  step('usage.lineItems', { query: { ...task, limit: 2 } }),
  step('tasks.delete', { params: task }),
  step('conversations.delete', { params: { conversation_id: exampleId('conv', 2) } }),
  step('batches.create', {
    body: { deployment: 'support-desk', items: [{ user_id: 'nora', ...asksForOrder }], concurrency: 5 },
  }),
  step('batches.list'),
  step('batches.get', { params: batch }),
  step('batches.items', { params: batch }),
  step('batches.cancel', { params: batch }),
  step('batches.delete', {
    params: batch,
    unsent: { because: 'Its items may still run.', answer: { object: 'batch', id: batch.batch_id, deleted: true } },
  }),
  step('routines.create', {
    body: {
      user_id: 'nora',
      deployment: 'support-desk',
      ask: 'Say which orders arrive today.',
      every: 'weekday at 08:00',
    },
  }),
  step('routines.list', { query: { user_id: 'nora' } }),
  step('routines.get', { params: routine }),
  step('routines.update', { params: routine, body: { enabled: false } }),
  step('routines.run', { params: routine }),
  step('routines.create', {
    body: { user_id: 'nora', deployment: 'support-desk', ask: 'Tell of the parcel.', on: 'call' },
  }),
  step('routines.trigger', {
    params: { routine_id: exampleId('rtn', 2) },
    body: { number: 'MT-1042', state: 'delivered' },
  }),
  step('routines.delete', { params: routine }),
  step('memory.create', { body: { user_id: 'nora', text: 'Prefers wool to cotton.', kind: 'preference' } }),
  step('memory.list', { query: { user_id: 'nora' } }),
  step('memory.search', { query: { user_id: 'nora', q: 'wool' } }),
  step('memory.delete', { params: { memory_id: exampleId('mem') }, query: { user_id: 'nora' } }),
  step('memory.deleteAll', { query: { user_id: 'nora' } }),
  step('files.create', { query: { user_id: 'nora' }, file: { name: 'receipt.txt', text: 'Order MT-1042, 49.50 EUR' } }),
  step('files.list', { query: { user_id: 'nora' } }),
  step('files.get', { params: file }),
  step('files.delete', { params: file }),
  step('sessions.create', { body: { user_id: 'nora', deployment: 'support-desk', chat: true } }),
  step('sessions.get', { params: session, as: 'session' }),
  step('sessions.framePolicy', { params: session, as: 'nobody' }),
  step('sessions.screen', {
    params: session,
    as: 'session',
    unsent: {
      because: 'it needs a browser',
      answer: {
        object: 'browser_stream',
        stream_url: 'https://vestra.example.com/screen/ses_1',
        preview_token: 'scr_example',
      },
    },
  }),
  step('sessions.screenInput', {
    params: session,
    as: 'session',
    body: { inputs: [{ kind: 'mouse', type: 'down', x: 0.5, y: 0.25, button: 'left', clicks: 1 }] },
    unsent: { because: 'it needs a browser', answer: { object: 'screen_input', driving: true } },
  }),
  step('sessions.voice', {
    params: session,
    as: 'session',
    body: { sdp: 'v=0\r\no=- 46117 2 IN IP4 127.0.0.1\r\n…' },
    unsent: {
      because: 'it needs sound',
      answer: { object: 'voice_call', sdp: 'v=0\r\no=- 46118 2 IN IP4 127.0.0.1\r\n…', ends_at: exampleTime },
    },
  }),
  step('sessions.delete', { params: session }),
  step('users.warm', {
    params: user,
    body: { keep_ms: 60000 },
    unsent: { because: 'it starts a computer', answer: { user_id: 'nora', status: 'ready' } },
  }),
  step('users.screenshot', { params: user, unsent: { because: 'it needs a browser', answer: undefined } }),
  step('browser.fetch', {
    params: user,
    body: {
      deployment: 'support-desk',
      url: 'https://carrier.example.com/parcels/MT-1042',
      capture: [{ match: '/api/parcels/*' }],
    },
    unsent: {
      because: 'it needs a browser',
      answer: {
        object: 'browser_fetch',
        url: 'https://carrier.example.com/parcels/MT-1042',
        status: 200,
        title: 'Where is my parcel?',
        tab: null,
        captures: [
          {
            match: '/api/parcels/*',
            url: 'https://carrier.example.com/api/parcels/MT-1042',
            status: 200,
            content_type: 'application/json',
            body: { state: 'on its way' },
            truncated: false,
          },
        ],
        steps: [],
        timings: { wake_ms: 0, open_ms: 420, capture_ms: 180, total_ms: 600 },
        frames: [],
      },
    },
  }),
  step('browser.cookies', {
    params: user,
    query: { domain: 'carrier.example.com', names: 'session' },
    unsent: {
      because: 'it needs a browser',
      answer: {
        object: 'browser_cookies',
        domain: 'carrier.example.com',
        cookies: [{ name: 'session', domain: 'carrier.example.com', expires_at: exampleTime }],
      },
    },
  }),
  step('browser.watch', {
    params: user,
    unsent: {
      because: 'it needs a browser',
      answer: {
        object: 'browser_frame',
        type: 'browser.frame',
        seq: 1,
        tab: 'tab_1',
        tag: null,
        stage: null,
        url: 'https://carrier.example.com/parcels/MT-1042',
        image: 'data:image/jpeg;base64,…',
        created_at: exampleTime,
      },
    },
  }),
  step('webhooks.test', { params: endpoint }),
  step('webhooks.deliveries', { params: endpoint }),
  step('webhooks.retry', { params: { ...endpoint, delivery_id: exampleId('whd') } }),
  step('webhooks.delete', { params: endpoint }),
];

export const goodbye: readonly ExampleCall[] = [step('users.delete', { params: user })];
