import { Button, type ButtonProps, Group, Stack, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { FormError } from '../components/states/form-error.tsx';
import { Dialog, DialogCloseButton, openDialog, useCloseDialog } from './dialog.tsx';
import { type Action, useAction } from './resource.ts';

interface Question<Result> {
  readonly title: string;
  /** The consequences, in full sentences. */
  readonly children: ReactNode;
  /** What the server does, or a change that it does not know of yet. */
  readonly action: Action<void, Result> | (() => void);
  /** What else follows. */
  readonly onDone?: (result: Result) => void;
  /** The label of the button that closes the dialog; default: Cancel. */
  readonly cancel?: string;
  /** Default true: what needs a confirmation mostly cannot be undone. */
  readonly destructive?: boolean;
}

/** Asks before an action, and describes the consequences. Stays open with the server's message if it fails. */
export function ConfirmDialog<Result>(
  props: Question<Result> & {
    /** The label of the button that confirms, same as on the button that opened the dialog. */
    readonly confirm: string;
    /** What must be typed first. */
    readonly typed?: string;
    /** Whether what the question says is still being read. */
    readonly pending?: boolean;
    /** What is shown after the action instead of the question, such as a new secret. */
    readonly done?: (result: Result) => ReactNode;
  },
) {
  const { destructive = true, done, typed = '', pending = false } = props;
  const [text, setText] = useState('');
  const close = useCloseDialog();
  const { action } = props;
  const isLocal = typeof action === 'function';
  const mutation = useAction(isLocal ? noAction : action);
  const onSuccess = (result: Result) => {
    if (!done) close();
    props.onDone?.(result);
  };
  const confirm = () => {
    if (!isLocal) return mutation.mutate(undefined, { onSuccess });
    action();
    close();
  };
  if (done && mutation.data !== undefined) return done(mutation.data);
  return (
    <Dialog title={props.title} locked={mutation.isPending}>
      <Stack gap="lg">
        <div>{props.children}</div>
        {typed !== '' && (
          <TextInput
            label={
              <>
                Type “<bdi>{typed}</bdi>” to confirm
              </>
            }
            value={text}
            autoComplete="off"
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
        <FormError error={mutation.error} />
        <Group justify="flex-end" gap="xs">
          {/* Focused in destructive dialogs: a repeated or held Enter must not confirm. */}
          <DialogCloseButton autoFocus={destructive}>{props.cancel ?? 'Cancel'}</DialogCloseButton>
          <Button
            color={destructive ? 'red.9' : 'accent'}
            loading={mutation.isPending}
            disabled={pending || text !== typed}
            data-autofocus={!destructive || undefined}
            onClick={confirm}
          >
            {props.confirm}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

const noAction: Action<void, never> = {
  ...{ run: () => Promise.reject(new Error('no call')), saved: '', stale: [] },
};

interface SmallButtonProps
  extends Pick<ButtonProps, 'disabled' | 'loading' | 'leftSection' | 'variant' | 'c'> {
  readonly label: string;
  readonly of?: string | undefined;
  /** Default: the label and `of`. */
  readonly name?: string | undefined;
  readonly onClick: () => void;
}

/** A small button beside what it acts on. Its name says on which of them: `Delete` and `openai` make "Delete openai". */
export function SmallButton(props: SmallButtonProps) {
  const { label, of, name = of === undefined ? undefined : `${label} ${of}`, ...others } = props;
  return (
    <Button size="xs" variant="default" aria-label={name} {...others}>
      {label}
    </Button>
  );
}

/** A small button that asks before its action, in the colour of what destroys. */
export function ConfirmButton<Result>(
  props: Question<Result> & Pick<SmallButtonProps, 'label' | 'of'>,
) {
  const { label, of, ...question } = props;
  return (
    <SmallButton
      label={label}
      of={of}
      {...(question.destructive !== false && { c: 'var(--bad)' })}
      onClick={() => openDialog(<ConfirmDialog confirm={label} {...question} />)}
    />
  );
}
