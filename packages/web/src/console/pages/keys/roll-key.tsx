import type { ItemOf } from '../../data/rows.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ChangeForm, SelectField } from '../../parts/form.tsx';

type RollProps = { keyRow: ItemOf<'keys.list'> | undefined; onClose: () => void; onSecret: (secret: string) => void };

export function RollKey({ keyRow, onClose, onSecret }: RollProps) {
  if (!keyRow) return null;
  return (
    <Dialog description={`${keyRow.name} gets a new secret.`} isOpen onClose={onClose} title="Roll this key">
      <ChangeForm
        fields={{ key_id: keyRow.id }}
        initial={{ grace_seconds: '3600' }}
        onCancel={onClose}
        onDone={({ key }) => {
          onClose();
          onSecret(key);
        }}
        row="keys.roll"
        send={({ grace_seconds }) => ({ grace_seconds: Number(grace_seconds) })}
        submit="Roll key"
      >
        <SelectField
          label="Old secret stays valid for"
          name="grace_seconds"
          options={[
            ['0', '0 seconds (revoke now)'],
            ['3600', 'One hour'],
            ['86400', 'One day'],
            ['604800', 'Seven days'],
          ]}
        />
      </ChangeForm>
    </Dialog>
  );
}
