import { Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Alert, AlertInput } from '../../../../src/client/index.ts';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { useSaveAlert } from '../../../data/workspace/alerts.ts';
import { AlertFields } from './alert-fields.tsx';
import { AlertPreview } from './alert-preview.tsx';

/** Creates or changes an alert, with a preview of past days. */
export function AlertForm(props: {
  /** Null for a new one. */
  readonly alert: Alert | null;
  readonly onClose: () => void;
}) {
  const { alert, onClose } = props;
  const [settings, setSettings] = useState<AlertInput>(() => settingsOf(alert));
  const save = useSaveAlert(alert?.alertId ?? null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(settings, { onSuccess: onClose });
  };
  return (
    <Dialog
      title={alert === null ? 'Add alert' : 'Edit alert'}
      size="lg"
      locked={save.isPending}
      onClose={onClose}
    >
      <form onSubmit={submit}>
        <Stack gap="md">
          <AlertFields
            settings={settings}
            error={save.error}
            onChange={(some) => setSettings({ ...settings, ...some })}
          />
          <AlertPreview settings={settings} />
          <FormError error={save.error} />
          <DialogActions submit={alert === null ? 'Add alert' : 'Save'} pending={save.isPending} />
        </Stack>
      </form>
    </Dialog>
  );
}

function settingsOf(alert: Alert | null): AlertInput {
  if (alert === null) {
    return {
      ...{ name: '', metric: 'failureRate', agentIds: null, tag: null },
      ...{ threshold: 0.1, clearThreshold: 0.05, windowMinutes: 15, minCount: 20, noData: 'keep' },
    };
  }
  const { name, metric, agentIds, tag, threshold, clearThreshold } = alert;
  const { windowMinutes, minCount, noData } = alert;
  return {
    ...{ name, metric, agentIds, tag, threshold, clearThreshold },
    ...{ windowMinutes, minCount, noData },
  };
}
