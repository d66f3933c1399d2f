import { ActionIcon, Button, Group, Textarea, TextInput } from '@mantine/core';
import { Icon } from '../../components/icon.tsx';
import type { MessageField, PartField } from '../../data/prompts/messages.ts';
import classes from './editor.module.css';

/** Edits the texts, images and files of one message of the user. */
export function MessageContent(props: {
  readonly message: MessageField;
  readonly number: number;
  readonly readOnly: boolean;
  readonly onEdit: (change: Partial<MessageField>) => void;
}) {
  const { message, number, readOnly, onEdit } = props;
  const parts = message.parts ?? [{ kind: 'text', text: message.text }];
  const change = (next: readonly PartField[]) => {
    const [only] = next;
    const isText = next.length === 1 && only?.kind === 'text';
    onEdit(isText ? { text: only.text, parts: undefined } : { text: '', parts: next });
  };
  return (
    <>
      {parts.map((part, index) => (
        <Part
          key={index}
          part={part}
          label={labelOf(parts, index, number)}
          readOnly={readOnly}
          onEdit={(text) => change(parts.map((one, at) => (at === index ? { ...one, text } : one)))}
          onRemove={
            parts.length > 1 ? () => change(parts.filter((_, at) => at !== index)) : undefined
          }
        />
      ))}
      {!readOnly && (
        <Group gap="xs">
          {additions.map(({ kind, label }) => (
            <Button
              key={kind}
              variant="subtle"
              size="compact-xs"
              leftSection={<Icon name="plus" size={12} />}
              aria-label={`${label} to message ${number}`}
              onClick={() => change([...parts, { kind, text: '' }])}
            >
              {label}
            </Button>
          ))}
        </Group>
      )}
    </>
  );
}

const additions = [
  { kind: 'image', label: 'Add image' },
  { kind: 'file', label: 'Add file' },
  { kind: 'text', label: 'Add text' },
] as const;

/** The first text is the text of the message; others are numbered. */
function labelOf(parts: readonly PartField[], index: number, number: number): string {
  const { kind = 'text' } = parts[index] ?? {};
  const before = parts.slice(0, index).filter((one) => one.kind === kind).length;
  const name = { text: 'Text', image: 'Variable of image', file: 'Variable of file' }[kind];
  return `${name}${before > 0 ? ` ${before + 1}` : ''} of message ${number}`;
}

function Part(props: {
  readonly part: PartField;
  readonly label: string;
  readonly readOnly: boolean;
  readonly onEdit: (text: string) => void;
  readonly onRemove: (() => void) | undefined;
}) {
  const { part, label, readOnly, onEdit, onRemove } = props;
  const field = {
    'aria-label': label,
    value: part.text,
    readOnly,
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      onEdit(event.currentTarget.value),
  };
  return (
    <div className={classes.part}>
      {part.kind === 'text' ? (
        <Textarea {...field} autosize minRows={2} maxRows={20} spellCheck={false} />
      ) : (
        <TextInput
          {...field}
          leftSection={<span className="small-note">{part.kind}</span>}
          leftSectionWidth={56}
          placeholder={part.kind === 'image' ? 'photo' : 'contract'}
          maxLength={100}
        />
      )}
      {!readOnly && onRemove && (
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Remove ${label.charAt(0).toLowerCase()}${label.slice(1)}`}
          onClick={onRemove}
        >
          <Icon name="close" size={14} />
        </ActionIcon>
      )}
    </div>
  );
}
