import { z } from 'zod';

export const modelShown = z
  .object({
    id: z.string().describe('The slug of a deployment: send it as `model`.'),
    object: z.literal('model').describe('Always `model`: what kind of object this is.'),
    created: z.int().describe('When the deployment was created, in seconds since 1970.'),
    owned_by: z.string().describe('The id of the org.'),
  })
  .describe('A deployment in the form of a model.');

export const conversationShown = z
  .object({
    id: z.string().describe('The id of the conversation, `conv_…`.'),
    object: z.literal('conversation').describe('Always `conversation`: what kind of object this is.'),
    created_at: z.int().describe('When it was created, in seconds since 1970.'),
    metadata: z.record(z.string(), z.string()).describe('Your labels, as you sent them.'),
  })
  .describe('A conversation in OpenAI’s format.');

export const fileShown = z
  .object({
    id: z.string().describe('The id of the file, `file_…`: send it as `file_id`.'),
    object: z.literal('file').describe('Always `file`: what kind of object this is.'),
    bytes: z.int().describe('Its size in bytes.'),
    created_at: z.int().describe('When it was uploaded, in seconds since 1970.'),
    filename: z.string().describe('The name of the file.'),
    purpose: z.string().describe('The purpose that the upload named, later `user_data`.'),
    status: z.literal('processed').describe('Always `processed`: it can be used at once.'),
  })
  .describe('A file in OpenAI’s format.');

export const inputItemList = z
  .object({
    object: z.literal('list').describe('Always `list`: what kind of object this is.'),
    data: z
      .array(
        z.looseObject({
          id: z.string().describe('The id of the item.'),
          type: z.string().describe('`message`, `function_call_output` or `mcp_approval_response`.'),
        }),
      )
      .describe('The items of the page, in the requested order.'),
    first_id: z.string().nullable().describe('The id of the first item; null if there is none.'),
    last_id: z.string().nullable().describe('The id of the last item; null if there is none.'),
    has_more: z.boolean().describe('Whether more items follow.'),
  })
  .describe('The input of a response in OpenAI’s format.');
