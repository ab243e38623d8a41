// Answers the agent's calls: `npx vestra functions serve functions.js`. Ask your own shop instead.
const orders = new Map([
  [
    'MT-1042',
    { number: 'MT-1042', state: 'shipped', delivery_day: 'Friday', total_usd: 89, items: ['Harbour cardigan'] },
  ],
  ['MT-0871', { number: 'MT-0871', state: 'delivered', delivered_days_ago: 61, total_usd: 75, items: ['Moor jumper'] }],
]);
const done = new Map();

/** The same call may come twice after a crash. Its id is the key under which it happens once. */
function once(call_id, run) {
  if (!done.has(call_id)) done.set(call_id, run());
  return done.get(call_id);
}

export const find_order = ({ number }) => orders.get(number) ?? { found: false };

export const start_return = ({ number }, { call_id }) =>
  once(call_id, () => ({ return_id: `R-${done.size + 1}`, number, label: 'sent by email' }));

export const refund_order = ({ number, amount_usd }, { call_id }) =>
  once(call_id, () => ({ refund_id: `RF-${done.size + 1}`, number, refunded_usd: amount_usd }));

export const add_note = ({ number, note }, { call_id }) => once(call_id, () => ({ number, note }));
