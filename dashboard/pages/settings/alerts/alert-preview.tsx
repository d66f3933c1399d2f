import { Button, Group, NativeSelect, Skeleton, Stack } from '@mantine/core';
import { Suspense, useState } from 'react';
import type { AlertInput } from '../../../../src/client/index.ts';
import { lazyComponent } from '../../../components/loading/lazy-component.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { cueline } from '../../../data/client/client.ts';
import { useSingleFlight } from '../../../data/client/use-single-flight.ts';

const AlertChart = lazyComponent(() => import('./alert-chart.tsx'));

/** When the alert would have fired, as a chart. */
export function AlertPreview({ settings }: { readonly settings: AlertInput }) {
  const [days, setDays] = useState('7');
  const preview = useSingleFlight({
    mutationFn: (days: number) => {
      const { name: _, ...measured } = settings;
      return cueline.alerts.previewNew({ ...measured, days });
    },
  });
  const [asked, setAsked] = useState({ settings, days });
  const isCurrent = asked.settings === settings && asked.days === days;
  return (
    <Stack gap="xs">
      <Group gap="xs" align="flex-end">
        <NativeSelect
          label="Preview"
          data={[
            { value: '1', label: '1 day' },
            { value: '7', label: '7 days' },
          ]}
          value={days}
          onChange={({ currentTarget }) => setDays(currentTarget.value)}
        />
        <Button
          variant="default"
          loading={preview.isPending}
          onClick={() => {
            setAsked({ settings, days });
            preview.mutate(Number(days));
          }}
        >
          Show preview
        </Button>
      </Group>
      <FormError error={preview.error} />
      {isCurrent && preview.data && (
        <Suspense fallback={<Skeleton height={180} />}>
          <AlertChart preview={preview.data} settings={settings} />
        </Suspense>
      )}
    </Stack>
  );
}
