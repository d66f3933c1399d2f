import { ActionIcon, Button, Group, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { Icon } from '../../components/icon.tsx';
import { type MessageField, messageRoles } from '../../data/prompts/messages.ts';
import classes from './editor.module.css';
import { MessageContent } from './message-content.tsx';

/** Edits the messages of a version, in the order in which they are sent. */
export function MessagesEditor(props: {
  readonly messages: readonly MessageField[];
  readonly readOnly: boolean;
  readonly onChange: (messages: readonly MessageField[]) => void;
}) {
  const { messages, readOnly, onChange } = props;
  const edit = (index: number, change: Partial<MessageField>) =>
    onChange(messages.map((one, at) => (at === index ? { ...one, ...change } : one)));
  const swap = (index: number, other: number) => {
    const next = [...messages];
    const [one, two] = [messages[index], messages[other]];
    if (!one || !two) return;
    next[index] = two;
    next[other] = one;
    onChange(next);
  };
  return (
    <ol className={classes.messages} aria-label="Messages">
      {messages.map((message, index) => (
        <li key={index}>
          <MessageRow
            message={message}
            number={index + 1}
            readOnly={readOnly}
            onEdit={(change) => edit(index, change)}
            onUp={index > 0 ? () => swap(index, index - 1) : undefined}
            onDown={index < messages.length - 1 ? () => swap(index, index + 1) : undefined}
            onRemove={() => onChange(messages.filter((_, at) => at !== index))}
          />
        </li>
      ))}
      {!readOnly && (
        <li>
          <Button
            variant="default"
            size="xs"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => onChange([...messages, { role: 'user', text: '' }])}
          >
            Add message
          </Button>
        </li>
      )}
    </ol>
  );
}

function MessageRow(props: {
  readonly message: MessageField;
  readonly number: number;
  readonly readOnly: boolean;
  readonly onEdit: (change: Partial<MessageField>) => void;
  readonly onUp: (() => void) | undefined;
  readonly onDown: (() => void) | undefined;
  readonly onRemove: () => void;
}) {
  const { message, number, readOnly, onEdit } = props;
  const isList = message.role === 'list';
  const text = {
    'aria-label': isList ? `Variable of message ${number}` : `Text of message ${number}`,
    value: message.text,
    readOnly,
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      onEdit({ text: event.currentTarget.value }),
  };
  return (
    <>
      <Group gap="xs" justify="space-between">
        <NativeSelect
          size="xs"
          aria-label={`Role of message ${number}`}
          data={[...messageRoles]}
          value={message.role}
          disabled={readOnly}
          onChange={({ currentTarget }) =>
            onEdit({ role: currentTarget.value as MessageField['role'], ...onlyText(message) })
          }
        />
        {!readOnly && (
          <Group gap={4}>
            <Move label={`Move message ${number} up`} arrow="↑" onClick={props.onUp} />
            <Move label={`Move message ${number} down`} arrow="↓" onClick={props.onDown} />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove message ${number}`}
              onClick={props.onRemove}
            >
              <Icon name="close" size={14} />
            </ActionIcon>
          </Group>
        )}
      </Group>
      {isList ? (
        <TextInput {...text} placeholder="history" maxLength={100} />
      ) : message.role === 'user' ? (
        <MessageContent message={message} number={number} readOnly={readOnly} onEdit={onEdit} />
      ) : (
        <Textarea {...text} autosize minRows={2} maxRows={20} spellCheck={false} />
      )}
    </>
  );
}

/** Only messages of the user have images and files. */
function onlyText({ text, parts }: MessageField): Partial<MessageField> {
  const texts = parts?.flatMap((part) => (part.kind === 'text' ? part.text : []));
  return { text: texts?.join('\n') ?? text, parts: undefined };
}

function Move(props: {
  readonly label: string;
  readonly arrow: string;
  readonly onClick: (() => void) | undefined;
}) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={props.label}
      disabled={!props.onClick}
      onClick={() => props.onClick?.()}
    >
      {props.arrow}
    </ActionIcon>
  );
}
