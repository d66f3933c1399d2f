import { Button, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import {
  ExecutionChoices,
  ExecutionIdForm,
} from '../../../components/executions/execution-choices.tsx';
import {
  type ExecutionDetail,
  recentExecutionsQuery,
} from '../../../data/executions/executions.ts';
import { Dialog, DialogCloseButton } from '../../../kit/dialog.tsx';

/** Chooses the execution of the same agent to compare with: a recent one, or any by its id. */
export default function CompareDialog(props: { readonly execution: ExecutionDetail }) {
  const { agentId, executionId, rerunOf } = props.execution;
  const navigate = useNavigate();
  const recent = useQuery(recentExecutionsQuery(agentId));
  const others = (recent.data?.executions ?? []).filter((one) => one.executionId !== executionId);
  const compare = (other: string) => {
    // Identifiers sort by time: the older one is on the left.
    const [before, after] = [other, executionId].sort();
    const search = { before: `${agentId}/${before}`, after: `${agentId}/${after}` };
    void navigate({ to: '/history/compare', search });
  };
  return (
    <Dialog title="Compare with" width="medium">
      <Stack gap="md">
        {rerunOf !== undefined && (
          <Button variant="default" onClick={() => compare(rerunOf)}>
            The execution that this one runs again
          </Button>
        )}
        <ExecutionChoices
          executions={others}
          empty={recent.data ? 'The agent has no other execution.' : null}
          detailOf={({ modelUsed }) => <code>{modelUsed}</code>}
          onChoose={(one) => compare(one.executionId)}
        />
        <ExecutionIdForm action="Compare" onChoose={compare} />
        <Group justify="flex-end">
          <DialogCloseButton>Cancel</DialogCloseButton>
        </Group>
      </Stack>
    </Dialog>
  );
}
