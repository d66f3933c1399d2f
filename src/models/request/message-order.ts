import type { CallOptions } from '../port/model.ts';

/** Prompts in the order of roles that servers take: many chat templates take one system text, at the beginning, or none. */

type Prompt = CallOptions['prompt'];
type Message = Prompt[number];
type UserMessage = Extract<Message, { role: 'user' }>;
type AssistantMessage = Extract<Message, { role: 'assistant' }>;

/** Adjacent system texts are always one. */
export function inOrder(prompt: Prompt, form: ReadonlySet<unknown>): Prompt {
  const ordered = form.has('systemFirst') ? withSystemFirst(prompt) : prompt;
  const joined = joinAdjacent(ordered, ['system']);
  const placed = form.has('system') ? withoutSystem(joined) : joined;
  return form.has('joined') ? joinAdjacent(placed, ['user', 'assistant']) : placed;
}

export function withSystemFirst(prompt: Prompt): Prompt {
  const isSystem = ({ role }: Message) => role === 'system';
  return [...prompt.filter(isSystem), ...prompt.filter((message) => !isSystem(message))];
}

export function hasSystem(prompt: Prompt): boolean {
  return prompt.some(({ role }) => role === 'system');
}

/** Whether a system text follows another message. */
export function hasLaterSystem(prompt: Prompt): boolean {
  return prompt.some(({ role }, index) => role === 'system' && index > 0);
}

export function hasAdjacent(prompt: Prompt): boolean {
  return joinAdjacent(prompt, ['user', 'assistant']).length < prompt.length;
}

/** The system texts as the beginning of the first message of the user, or as that message. */
function withoutSystem(prompt: Prompt): Prompt {
  const system = prompt.flatMap((message) => (message.role === 'system' ? message.content : []));
  if (system.length === 0) return prompt;
  const others = prompt.filter(({ role }) => role !== 'system');
  const text: UserMessage = { role: 'user', content: [textPart(system.join(separator))] };
  const first = others.findIndex(({ role }) => role === 'user');
  if (first < 0) return [text, ...others];
  return others.map((message, index) => (index === first ? join(text, message) : message));
}

function joinAdjacent(prompt: Prompt, roles: readonly Message['role'][]): Prompt {
  const joined: Message[] = [];
  for (const message of prompt) {
    const last = joined.at(-1);
    const isSame = last?.role === message.role && roles.includes(message.role);
    if (last && isSame) joined[joined.length - 1] = join(last, message);
    else joined.push(message);
  }
  return joined;
}

/** Two messages of one role. Of tools, each result stays a message. */
function join(first: Message, second: Message): Message {
  if (first.role === 'system' && second.role === 'system') {
    return { ...second, content: `${first.content}${separator}${second.content}` };
  }
  if (first.role === 'user' && second.role === 'user') {
    return { ...second, content: joinContents<UserMessage>(first, second) };
  }
  if (first.role === 'assistant' && second.role === 'assistant') {
    // What only the first one has beside its content stays, such as reasoning.
    return { ...first, ...second, content: joinContents<AssistantMessage>(first, second) };
  }
  return second;
}

/** The texts where they meet become one: some servers take a list of parts for a text only. */
function joinContents<M extends UserMessage | AssistantMessage>(first: M, second: M): M['content'] {
  const before: M['content'][number][] = [...first.content];
  const after: M['content'][number][] = [...second.content];
  const [end, begin] = [before.at(-1), after[0]];
  const parts =
    end?.type === 'text' && begin?.type === 'text'
      ? [
          ...before.slice(0, -1),
          { ...begin, text: `${end.text}${separator}${begin.text}` },
          ...after.slice(1),
        ]
      : [...before, ...after];
  return parts as M['content'];
}

const separator = '\n\n';

function textPart(text: string) {
  return { type: 'text' as const, text };
}
