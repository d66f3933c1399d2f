import { type Message, readMessages } from '../../core/agent/messages.ts';
import { variableText } from '../../core/agent/variables.ts';
import type { Execution } from '../../core/execution/execution-fields.ts';
import { invalidRequest } from '../../core/failure.ts';
import { members } from '../../core/json.ts';
import type { Db } from '../../db/database.ts';
import { findMessageLists } from '../../features/agents/statements/models.ts';
import { argumentsText, itemId } from './response-wire.ts';

/** The input of an execution as items of the Responses API. */

export interface ItemsQuery {
  readonly limit?: number;
  readonly order?: 'asc' | 'desc';
  readonly after?: string;
}

export async function inputItemsPage(db: Db, row: Execution, query: ItemsQuery) {
  const { limit = 20, order = 'desc', after } = query;
  const items = inputItems(row, await findMessageLists(db, row.promptVersionId));
  const ordered = order === 'desc' ? items.toReversed() : items;
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && from === 0) {
    throw invalidRequest('Parameter "after" must be the id of an item of this response.');
  }
  const data = ordered.slice(from, from + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < ordered.length,
  };
}

/**
 * What the caller sent, the oldest first.
 * @param lists the variables that are lists of messages
 */
export function inputItems(row: Execution, lists: readonly string[]) {
  return itemsOf(row, inputMessages(row.inputVariables ?? '{}', lists));
}

/** The conversation; without one, the only variable or all variables as the text of a message. */
function inputMessages(variables: string, lists: readonly string[]): readonly Message[] {
  const supplied = members(variables).filter(({ text }) => text !== 'null');
  const conversation = supplied.filter(({ name }) => lists.includes(name));
  if (conversation.length > 0) {
    return conversation.flatMap(({ name, text }) => {
      const list = readMessages(text, name, { isStored: true });
      return 'messages' in list ? list.messages : [];
    });
  }
  const [only, ...others] = supplied;
  if (!only) return [];
  const content = others.length === 0 ? variableText(only.text) : variables;
  return [{ role: 'user', content }];
}

function partsOf({ role, content }: Exclude<Message, { role: 'tool' }>) {
  const parts = typeof content === 'string' ? [{ text: content }] : content;
  return parts.map((part) => {
    if ('image' in part)
      return { type: 'input_image', image_url: part.image.value, detail: 'auto' };
    if ('file' in part) return { type: 'input_file', file_url: part.file.value };
    if (role !== 'assistant') return { type: 'input_text', text: part.text };
    return { type: 'output_text', text: part.text, annotations: [] };
  });
}

function itemsOf({ id }: Execution, messages: readonly Message[]) {
  const items = messages.flatMap((message): Record<string, unknown>[] => {
    if (message.role === 'tool') {
      const { toolCallId: call_id, content: output } = message;
      return [{ type: 'function_call_output', call_id, output, status: 'completed' }];
    }
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
    const shown = calls.map((call) => ({
      ...{ type: 'function_call', call_id: call.id, name: call.name },
      ...{ arguments: argumentsText(call), status: 'completed' },
    }));
    if (message.content === '' && shown.length > 0) return shown;
    const content = partsOf(message);
    return [{ type: 'message', role: message.role, content, status: 'completed' }, ...shown];
  });
  return items.map((item, index) => ({ id: `${itemId('msg', id)}_in_${index}`, ...item }));
}
