import { Button, Checkbox, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Workflow, WorkflowVersion } from '../../../src/client/index.ts';
import { useAddVersion, type WorkflowDefinition } from '../../data/workflows.ts';
import { Card } from '../../parts/card.tsx';
import editor from '../../parts/editor.module.css';
import { FormProblem } from '../../parts/form-problem.tsx';
import { VersionFields } from '../../parts/version-fields.tsx';

export type SavedVersion = WorkflowVersion & { readonly pinned: boolean };

/** Makes a version of what is written. It cannot be changed after, so it is said what that means. */
export function SaveVersion(props: {
  readonly workflow: Workflow;
  readonly definition: unknown;
  readonly ready: boolean;
  readonly saved: SavedVersion | null;
  readonly onSaved: (version: SavedVersion) => void;
}) {
  const { workflow, definition, ready, saved, onSaved } = props;
  const [about, setAbout] = useState({ label: '', notes: '', pin: true });
  const add = useAddVersion(workflow.workflowId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { label, notes, pin } = about;
    const version = {
      // The server has judged it.
      definition: definition as WorkflowDefinition,
      notes: notes || null,
      ...(label && { label }),
    };
    const onSuccess = (added: WorkflowVersion) => {
      setAbout({ label: '', notes: '', pin: true });
      onSaved({ ...added, pinned: pin });
    };
    add.mutate({ version, pin }, { onSuccess });
  };
  return (
    <Card title="Save as a new version">
      <form onSubmit={submit}>
        <Stack gap="sm" maw="32rem">
          <VersionFields
            about={about}
            usual="v and its number, unless given"
            error={add.error}
            onChange={(change) => setAbout({ ...about, ...change })}
          />
          <Checkbox
            label="Pin it: from the next run on it is what is carried out"
            checked={about.pin}
            onChange={({ currentTarget: { checked: pin } }) => setAbout({ ...about, pin })}
          />
          <FormProblem error={add.error} />
          {saved && !ready && (
            <div className={editor.saved} role="status">
              Saved as {saved.workflowVersionLabel}
              {saved.pinned
                ? ' and pinned. Runs that are under way keep the version they began with.'
                : `. “${workflow.workflowVersionLabel}” stays pinned.`}
            </div>
          )}
          <div>
            <Button type="submit" loading={add.isPending} disabled={!ready}>
              Save the version
            </Button>
          </div>
        </Stack>
      </form>
    </Card>
  );
}
