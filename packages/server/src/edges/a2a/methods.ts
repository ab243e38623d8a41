import type { StreamResponse } from '@a2a-js/sdk';
import {
  PushNotificationNotSupportedError,
  TaskNotCancelableError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { type Exchange, ownConversation, ownTask, showTask } from './exchange.ts';
import { type CountTasks, listTasks } from './list-tasks.ts';
import { outcomeOf, streamOf, subscriptionTo } from './outcome.ts';
import { eventsAfter, send } from './send.ts';
import { contextOf, isOver } from './task.ts';

type MethodDependencies = {
  exchange: Exchange;
  stopTask: (taskId: string) => Promise<void>;
  countTasks: CountTasks;
  /** Whatever is thrown, as an error of the protocol. */
  asProtocolError: (thrown: unknown) => Error;
};

/** The methods of the protocol. The SDK reads and writes its JSON; nothing of a task is kept here. */
export function methodsFor({ exchange, stopTask, countTasks, asProtocolError }: MethodDependencies): A2ARequestHandler {
  const told = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw asProtocolError(error);
    }
  };
  const streamed = async function* (work: () => AsyncGenerator<StreamResponse, void, undefined>) {
    try {
      yield* work();
    } catch (error) {
      throw asProtocolError(error);
    }
  };
  const noPush = () => Promise.reject(new PushNotificationNotSupportedError());
  const noCard = () => Promise.reject(new UnsupportedOperationError('The agent card has an address of its own.'));

  return {
    sendMessage: (request) =>
      told(async () => {
        const { returnImmediately = false, historyLength } = request.configuration ?? {};
        return outcomeOf(exchange, await send(exchange, request), { returnImmediately, historyLength });
      }),
    sendMessageStream: (request) =>
      streamed(async function* () {
        yield* streamOf(exchange, await send(exchange, request));
      }),
    getTask: ({ id, historyLength }) =>
      told(async () => showTask(exchange, await ownTask(exchange, id), { historyLength })),
    listTasks: (request) => told(() => listTasks(exchange, request, countTasks)),
    cancelTask: ({ id }) =>
      told(async () => {
        const task = await ownTask(exchange, id);
        if (isOver(task)) throw new TaskNotCancelableError(`The task ${task.id} has ended.`);
        await stopTask(task.id);
        return showTask(exchange, await ownTask(exchange, id));
      }),
    resubscribe: ({ id }) =>
      streamed(async function* () {
        const before = await ownTask(exchange, id);
        // Read before the task, so that nothing falls between the two.
        const conversation = await ownConversation(exchange, contextOf(before));
        const task = await ownTask(exchange, id);
        if (isOver(task)) throw new UnsupportedOperationError(`The task ${task.id} has ended.`);
        const events = eventsAfter(exchange, conversation, task.id);
        yield* subscriptionTo(exchange, await showTask(exchange, task), events);
      }),
    createTaskPushNotificationConfig: noPush,
    getTaskPushNotificationConfig: noPush,
    listTaskPushNotificationConfigs: noPush,
    deleteTaskPushNotificationConfig: noPush,
    getAgentCard: noCard,
    getAuthenticatedExtendedAgentCard: noCard,
  };
}
