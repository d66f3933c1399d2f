import { Group, Skeleton, Stack } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import {
  ExecutionChoices,
  ExecutionIdForm,
} from '../../../components/executions/execution-choices.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { useSingleFlight } from '../../../data/client/use-single-flight.ts';
import {
  type Execution,
  executionQuery,
  findExecution,
  versionExecutionsQuery,
} from '../../../data/executions/executions.ts';
import { fieldTexts } from '../../../data/prompts/playground-values.ts';
import { Dialog, DialogCloseButton } from '../../../kit/dialog.tsx';

/** Takes the variables of an execution: a recent one of the prompt, or any by its id. */
export default function ExecutionValuesDialog(props: {
  /** Of the newest versions of the prompt. */
  readonly versionIds: readonly string[];
  readonly onChoose: (values: Record<string, string>) => void;
  readonly onClose: () => void;
}) {
  const { versionIds, onChoose, onClose } = props;
  const queries = useQueryClient();
  const recent = useQuery(versionExecutionsQuery(versionIds));
  const take = useSingleFlight({
    mutationFn: async (found: Pick<Execution, 'agentId' | 'executionId'> | string) => {
      const one = typeof found === 'string' ? await findExecution(found) : found;
      if (!one) throw new Error('Not found. You may not have access; ask an owner.');
      const record = await queries.fetchQuery(executionQuery(one.agentId, one.executionId));
      if (!record.inputVariables) throw new Error('Its variables are no longer stored.');
      return fieldTexts(record.inputVariables);
    },
    onSuccess: (values) => {
      onChoose(values);
      onClose();
    },
  });
  return (
    <Dialog
      title="Variables from an execution"
      width="medium"
      locked={take.isPending}
      onClose={onClose}
    >
      <Stack gap="md">
        {recent.isError && !recent.data ? (
          <ErrorState error={recent.error} onRetry={() => void recent.refetch()} />
        ) : recent.isLoading ? (
          <Skeleton height={160} />
        ) : (
          <ExecutionChoices
            executions={recent.data?.executions ?? []}
            empty={
              recent.data || versionIds.length === 0 ? 'The prompt has no executions yet.' : null
            }
            detailOf={({ agentName }) => <span dir="auto">{agentName}</span>}
            onChoose={take.mutate}
            disabled={take.isPending}
          />
        )}
        <ExecutionIdForm action="Use" onChoose={take.mutate} loading={take.isPending} />
        <FormError error={take.error} />
        <Group justify="flex-end">
          <DialogCloseButton>Cancel</DialogCloseButton>
        </Group>
      </Stack>
    </Dialog>
  );
}
