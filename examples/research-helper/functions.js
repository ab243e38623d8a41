// Answers the agent's calls: `npx vestra functions serve functions.js`. Ask your own records instead.
const deals = new Map([['termosol', { company: 'Termosol', state: 'under negotiation' }]]);
const published = new Map();

export const find_deal = ({ company }) => deals.get(company.toLowerCase()) ?? { found: false };

export function publish_brief({ title }, { call_id }) {
  // The same call may come twice after a crash. Its id is the key under which it is published once.
  if (!published.has(call_id))
    published.set(call_id, { title, url: `https://team.example.com/briefs/${published.size + 1}` });
  return published.get(call_id);
}
