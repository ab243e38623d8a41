import { type ExampleCall, exampleId, step } from './step.ts';

const desk = { deployment_id: 'support-desk' };
const hello = { role: 'user', content: 'When are you open?' };

/** The same agent through the protocols of other clients. */
export const edges: readonly ExampleCall[] = [
  step('protocols.mcp', {
    headers: { Accept: 'application/json, text/event-stream' },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'me', arguments: {} } },
  }),
  step('oauth.register', {
    body: { client_name: 'Claude', redirect_uris: ['https://claude.ai/api/mcp/auth_callback'] },
    as: 'nobody',
    unsent: {
      because: 'the id is another one each time',
      answer: {
        client_id: 'mcp-client-8WJ0mWq3cQ0b6l8m2tq5Fg',
        client_id_issued_at: 1_794_821_400,
        client_name: 'Claude',
        redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
    },
  }),
  step('oauth.token', {
    body: { grant_type: 'refresh_token', client_id: 'mcp-client-8WJ0mWq3cQ0b6l8m2tq5Fg', refresh_token: 'vmr_…' },
    as: 'nobody',
    unsent: {
      because: 'a member lets a client in with a browser',
      answer: {
        access_token: 'vma_…',
        token_type: 'Bearer',
        expires_in: 3600,
        refresh_token: 'vmr_…',
        scope: 'runtime setup',
      },
    },
  }),
  step('oauth.revoke', { body: { token: 'vmr_…' }, as: 'nobody' }),
  step('protocols.agentCard', { params: { deployment_id: exampleId('dep') }, as: 'nobody' }),
  step('protocols.a2a', {
    params: desk,
    headers: { 'Service-User': 'nora', 'A2A-Version': '1.0' },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'When are you open?' }] } },
    },
  }),
  step('openai.models'),
  step('openai.model', { params: { model: 'support-desk' } }),
  step('openai.chat', { body: { model: 'support-desk', user: 'nora', messages: [hello] } }),
  step('openai.createConversation', { body: { metadata: { model: 'support-desk', user: 'nora' } } }),
  step('openai.conversation', { params: { conversation_id: exampleId('conv') } }),
  step('openai.respond', { body: { model: 'support-desk', user: 'nora', input: 'When are you open?' } }),
  step('openai.response', { params: { response_id: 'resp_1' } }),
  step('openai.inputItems', { params: { response_id: 'resp_1' } }),
  step('openai.cancel', { params: { response_id: 'resp_1' } }),
  step('openai.createFile', { file: { name: 'terms.txt', text: 'Open from nine to five.' } }),
  step('openai.file', { params: { file_id: exampleId('file', 2) } }),
  step('openai.deleteFile', { params: { file_id: exampleId('file', 2) } }),
  step('agUi.run', {
    params: desk,
    headers: { 'Service-User': 'nora' },
    body: { threadId: 'thread-1', runId: 'run-1', messages: [{ id: 'm-1', ...hello }], tools: [], context: [] },
  }),
];
