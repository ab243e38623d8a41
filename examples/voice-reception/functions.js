// Answers the agent's calls: `npx vestra functions serve functions.js`. Ask your own directory instead.
const people = [
  { name: 'Clara Weiss', floor: 'third floor', in_today: true },
  { name: 'Tom Okafor', floor: 'first floor', in_today: false },
];
const taken = new Map();

export function find_person({ name }) {
  const wanted = name.toLowerCase();
  return people.find((person) => person.name.toLowerCase().includes(wanted)) ?? { found: false };
}

export function take_message({ name, message }, { call_id }) {
  // The same call may come twice after a crash. Its id is the key under which it is taken once.
  taken.set(call_id, { name, message });
  return { taken: true };
}
