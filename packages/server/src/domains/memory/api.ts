export { type CustomerMemory, createCustomerMemory } from './customer-memory.ts';
export { memoryEndpointSecret } from './endpoint-signature.ts';
export { DeletedMeanwhile } from './forget.ts';
export { createMemory, type Memory } from './memory.ts';
export { isInWordsOf } from './said-by-user.ts';
export { eraseMemoriesOf } from './store.ts';
