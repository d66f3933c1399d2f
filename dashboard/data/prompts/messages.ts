import type { PromptVersion } from '../../../src/client/index.ts';

export type TemplateMessage = NonNullable<PromptVersion['messages']>[number];

/** A message in a form. A list that the caller supplies has the role `list` and its name as the text. */
export interface MessageField {
  readonly role: 'system' | 'user' | 'assistant' | 'list';
  readonly text: string;
}

export const messageRoles = [
  { value: 'system', label: 'System' },
  { value: 'user', label: 'User' },
  { value: 'assistant', label: 'Assistant' },
  { value: 'list', label: 'List of messages' },
] as const satisfies readonly { value: MessageField['role']; label: string }[];

export function toField(message: TemplateMessage): MessageField {
  if ('placeholder' in message) return { role: 'list', text: message.placeholder };
  return { role: message.role, text: message.content };
}

export function fromField({ role, text }: MessageField): TemplateMessage {
  return role === 'list' ? { placeholder: text.trim() } : { role, content: text };
}

/** The messages as one readable text, for comparing versions. */
export function messagesText(messages: readonly TemplateMessage[] | null | undefined): string {
  return (messages ?? [])
    .map(toField)
    .map(({ role, text }) => (role === 'list' ? `[messages of {{${text}}}]` : `[${role}]\n${text}`))
    .join('\n\n');
}
