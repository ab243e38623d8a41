import type { Server } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Called } from './mcp-server.fixture.ts';

type Task = Record<string, unknown> & { status: string };

const params = z.looseObject({ taskId: z.string() });

/** A tool that answers with a task. A test sets the result of `tasks/get`. */
export function slowTool(task: Task) {
  const heard = { calls: 0, polls: 0, cancelled: 0, updates: [] as unknown[] };
  const call = (() => {
    heard.calls += 1;
    return { resultType: 'task', taskId: 'task-7', ...about(task), pollIntervalMs: 1 };
  }) as unknown as Called;
  const prepare = (server: Server) => {
    server.setRequestHandler('tasks/get', { params }, () => {
      heard.polls += 1;
      return { taskId: 'task-7', ...about(task), ...task, pollIntervalMs: 1 };
    });
    server.setRequestHandler('tasks/update', { params }, (_params, { mcpReq }) => {
      heard.updates.push(mcpReq.inputResponses);
      return {};
    });
    server.setRequestHandler('tasks/cancel', { params }, () => {
      heard.cancelled += 1;
      return {};
    });
  };
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
  return { task, heard, parts: { call, prepare, capabilities } };
}

const about = ({ status }: Task) => ({
  status,
  createdAt: '2026-11-16T10:00:00Z',
  lastUpdatedAt: '2026-11-16T10:00:00Z',
  ttlMs: null,
});
