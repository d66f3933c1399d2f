import { Button, Group, Modal, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { FormProblem } from './form-problem.tsx';

/** Asks before something is done, and says what will happen. Stays open with the server's words where it fails. */
export function ConfirmDialog(props: {
  readonly opened: boolean;
  readonly title: string;
  /** What will happen, in full sentences. */
  readonly children: ReactNode;
  /** The verb of the deed, as on the button that opened it. */
  readonly verb: string;
  readonly destructive?: boolean;
  readonly pending?: boolean;
  readonly error?: unknown;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title} size="md">
      <Stack gap="lg">
        <div>{props.children}</div>
        <FormProblem error={props.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={props.onClose}>
            Keep as it is
          </Button>
          <Button
            color={props.destructive ? 'red.9' : 'accent'}
            loading={props.pending ?? false}
            onClick={props.onConfirm}
            data-autofocus
          >
            {props.verb}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
