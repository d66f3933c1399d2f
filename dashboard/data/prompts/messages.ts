import type { PromptVersion } from '../../../src/client/index.ts';

export type TemplateMessage = NonNullable<PromptVersion['messages']>[number];

/** A message in a form. A list that the caller supplies has the role `list` and its name as the text. */
export interface MessageField {
  readonly role: 'system' | 'user' | 'assistant' | 'list';
  readonly text: string;
  /** Instead of the text: texts, images and files in order. */
  readonly parts?: readonly PartField[];
}

/** A part of a message. An image or file has the name of its variable as the text. */
export interface PartField {
  readonly kind: 'text' | 'image' | 'file';
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
  const { role, content } = message;
  if (typeof content === 'string') return { role, text: content };
  const parts = content.map((part): PartField => {
    if ('text' in part) return { kind: 'text', text: part.text };
    return 'image' in part
      ? { kind: 'image', text: nameIn(part.image) }
      : { kind: 'file', text: nameIn(part.file) };
  });
  return { role, text: '', parts };
}

function nameIn(placeholder: string): string {
  return placeholder.replace(/[{}\s]/g, '');
}

export function fromField({ role, text, parts }: MessageField): TemplateMessage {
  if (role === 'list') return { placeholder: text.trim() };
  return { role, content: parts ? parts.map(fromPart) : text };
}

function fromPart({ kind, text }: PartField) {
  const placeholder = `{{${text.trim()}}}`;
  if (kind === 'text') return { text };
  return kind === 'image' ? { image: placeholder } : { file: placeholder };
}

/** All templates of a message as one text, in which variables can be found. */
export function templateOf({ role, text, parts }: MessageField): string {
  if (role === 'list') return `{{${text}}}`;
  if (!parts) return text;
  return parts.map((part) => (part.kind === 'text' ? part.text : `{{${part.text}}}`)).join('\n');
}

export function isBlank({ text, parts = [{ kind: 'text', text }] }: MessageField): boolean {
  return parts.length === 0 || parts.some((part) => part.text.trim() === '');
}

/** The messages as one readable text, for comparing versions. */
export function messagesText(messages: readonly TemplateMessage[] | null | undefined): string {
  return (messages ?? []).map(toField).map(readable).join('\n\n');
}

function readable({ role, text, parts }: MessageField): string {
  if (role === 'list') return `[messages of {{${text}}}]`;
  const lines = (parts ?? [{ kind: 'text', text }]).map((part) =>
    part.kind === 'text' ? part.text : `[${part.kind} {{${part.text}}}]`,
  );
  return `[${role}]\n${lines.join('\n')}`;
}

/** The variables of a version whose values are images or files. */
export function fileVariablesOf({
  messages = [],
}: Pick<PromptVersion, 'messages'>): Map<string, 'image' | 'file'> {
  const parts = messages.map(toField).flatMap((message) => message.parts ?? []);
  return new Map(parts.flatMap(({ kind, text }) => (kind === 'text' ? [] : [[text, kind]])));
}
