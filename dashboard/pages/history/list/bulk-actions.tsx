import { Button, Group, Menu, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Icon } from '../../../components/icon.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { announceSave } from '../../../data/client/saves.ts';
import {
  type BulkAction,
  type BulkResult,
  bulkAction,
  targetsOf,
} from '../../../data/executions/bulk.ts';
import { type Execution, isInProgress } from '../../../data/executions/executions.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import { ConfirmDialog } from '../../../kit/confirm-dialog.tsx';
import { Dialog, DialogCloseButton, openDialog, useCloseDialog } from '../../../kit/dialog.tsx';
import classes from '../history.module.css';
import { useExport } from './export-menu.tsx';
import type { Selection } from './use-selection.ts';

/** What can be done with the selected executions. */
export function BulkActions(props: {
  readonly agentId: string | undefined;
  readonly selection: Selection;
  readonly onDeleted: (executionIds: readonly string[]) => void;
}) {
  const { selection, onDeleted } = props;
  const canEdit = can(useMe(), 'edit');
  const { rows } = selection;
  const onDone =
    (one: BulkAction) =>
    ({ done, failed }: BulkResult) => {
      if (one === 'delete') onDeleted(done.map(({ executionId }) => executionId));
      else selection.select(failed.map(({ target }) => target.executionId));
    };
  const offer = (one: BulkAction) => {
    const targets = targetsOf(one, rows);
    const count = targets.length;
    if (count === 0) return null;
    const label = labels[one];
    return (
      <Button
        key={one}
        size="xs"
        variant="default"
        {...(one === 'delete' && { c: 'var(--bad)' })}
        onClick={() => openDialog(<BulkDialog action={one} rows={targets} onDone={onDone(one)} />)}
      >
        {count === rows.length ? label : `${label} (${count})`}
      </Button>
    );
  };
  return (
    <>
      <span role="status" className="grow">
        {rows.length.toLocaleString()} selected
      </span>
      {canEdit && (['cancel', 'run again'] as const).map(offer)}
      <Compare rows={rows} />
      <ExportSelected agentId={props.agentId} rows={rows} />
      {canEdit && offer('delete')}
      <Button size="xs" variant="subtle" color="gray" onClick={selection.clear}>
        Clear selection
      </Button>
    </>
  );
}

const labels = { cancel: 'Cancel', 'run again': 'Run again', delete: 'Delete' } as const;
const past = { cancel: 'canceled', 'run again': 'started', delete: 'deleted' } as const;

const consequences = {
  cancel: 'Their model calls are aborted. What they have used so far is charged.',
  'run again':
    'Each runs the version that its agent pins now, with the same variables, and uses one AI Action.',
  delete:
    'The records are deleted permanently, with their variables, prompts and outputs. Statistics keep their usage and cost.',
} as const;

interface BulkDialogProps {
  readonly action: BulkAction;
  /** As they were when the dialog opened: the selection changes once some are done. */
  readonly rows: readonly Execution[];
  readonly onDone: (result: BulkResult) => void;
}

function BulkDialog(props: BulkDialogProps) {
  const { action, rows, onDone } = props;
  const [progress, setProgress] = useState<number | null>(null);
  const close = useCloseDialog();
  const what = rows.length === 1 ? '1 execution' : `${rows.length.toLocaleString()} executions`;
  const title = `${labels[action]} ${what}`;
  return (
    <ConfirmDialog
      title={`${title}?`}
      confirm={labels[action]}
      cancel={action === 'cancel' ? 'Keep running' : 'Cancel'}
      destructive={action === 'delete'}
      action={bulkAction(action, rows, setProgress)}
      onDone={(result) => {
        onDone(result);
        announceSave(`${result.done.length.toLocaleString()} ${past[action]}`);
        if (result.failed.length === 0) close();
      }}
      done={(result) =>
        result.failed.length > 0 && (
          <Dialog title={title}>
            <Stack gap="lg">
              <Failures result={result} />
              <Group justify="flex-end">
                <DialogCloseButton>Close</DialogCloseButton>
              </Group>
            </Stack>
          </Dialog>
        )
      }
    >
      <p>{consequences[action]}</p>
      {progress !== null && (
        <p role="status">
          {progress.toLocaleString()} of {rows.length.toLocaleString()}
        </p>
      )}
    </ConfirmDialog>
  );
}

function Failures({ result: { done, failed } }: { readonly result: BulkResult }) {
  const all = useRef<HTMLDivElement>(null);
  // The focused button was removed.
  useEffect(() => all.current?.focus(), []);
  return (
    <div ref={all} tabIndex={-1} className={classes.failures} role="alert">
      {failed.length.toLocaleString()} of {(done.length + failed.length).toLocaleString()} failed:
      <ul>
        {failed.slice(0, 10).map(({ target, message }) => (
          <li key={target.executionId}>
            <code>{target.executionId}</code> <bdi>{message}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Compare({ rows }: { readonly rows: readonly Execution[] }) {
  const navigate = useNavigate();
  const [newer, older] = rows;
  if (rows.length !== 2 || !newer || !older) return null;
  const place = ({ agentId, executionId }: Execution) => `${agentId}/${executionId}`;
  const search = { before: place(older), after: place(newer) };
  return (
    <Button
      size="xs"
      variant="default"
      onClick={() => void navigate({ to: '/history/compare', search })}
    >
      Compare
    </Button>
  );
}

/** Limit of the API. */
const exportedMax = 100;

/** Only records are exported. */
function ExportSelected(props: {
  readonly agentId: string | undefined;
  readonly rows: readonly Execution[];
}) {
  const ended = props.rows.filter((row) => !isInProgress(row));
  const executionId = ended.map((row) => row.executionId);
  const { begin, items } = useExport(props.agentId, { executionId });
  return (
    <>
      <Menu width={220}>
        <Menu.Target>
          <Button
            size="xs"
            variant="default"
            disabled={ended.length === 0 || ended.length > exportedMax}
            loading={begin.isPending}
            rightSection={<Icon name="down" size={12} />}
          >
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>{items}</Menu.Dropdown>
      </Menu>
      <FormError error={begin.error} />
    </>
  );
}
