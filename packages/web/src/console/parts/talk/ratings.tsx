import type { Message } from '@vestra/sdk/resources';
import { useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useChange, useList, useOne } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { Fault } from '../fault.tsx';
import { AreaField, ChangeForm } from '../form.tsx';
import { Icon } from '../icons.tsx';
import { Time } from '../shown.tsx';

type Said = ItemOf<'feedback.ofConversation'>;

/** The ratings of a conversation by message. */
export function useRatings(conversation_id: string): (messageId: string) => readonly Said[] {
  const { may } = useRole();
  const isKnown = conversation_id !== '' && may('feedback.ofConversation');
  const said = useList('feedback.ofConversation', { conversation_id }, { limit: 100, enabled: isKnown });
  return (messageId) => said.rows.filter(({ message_id }) => message_id === messageId);
}

/** The ratings of a reply and the member's own rating, of which the last counts. */
export function Ratings({ message, said }: { message: Message; said: readonly Said[] }) {
  const { may } = useRole();
  const account = useOne('consoleAccount.show', {});
  const rate = useChange('feedback.rate');
  const [isWriting, setIsWriting] = useState(false);
  const memberId = account.data?.member.id;
  const isMine = ({ rater }: Said) => rater.type === 'member' && rater.id === memberId;
  const mine = said.find(isMine);
  const others = said.filter((each) => !isMine(each));
  const fields = { message_id: message.id };
  const press = async (rating: Said['rating']) => {
    // Sending the same rating again would delete its note.
    if (mine?.rating !== rating) await rate.runNow({ ...fields, rating });
    setIsWriting(rating === 'bad');
  };
  return (
    <div className="mt-1" data-ratings="">
      {others.map((each) => (
        <Line key={each.id} said={each} />
      ))}
      {mine?.note && <Line said={mine} />}
      {may('feedback.rate') && (
        // biome-ignore lint/a11y/useSemanticElements: two buttons are no fields of a form.
        <div aria-label="Rate this answer" className="-ml-2 flex items-center" role="group">
          {(['good', 'bad'] as const).map((rating) => (
            <Button
              aria-label={`${rating === 'good' ? 'Good' : 'Bad'} answer`}
              aria-pressed={mine?.rating === rating}
              className="aria-pressed:bg-accent-soft aria-pressed:text-accent"
              key={rating}
              look="quiet"
              onClick={() => void press(rating).catch(() => {})}
              shape="small"
              title={`${rating === 'good' ? 'Good' : 'Bad'} answer`}
            >
              <Icon className={`size-3.5 ${rating === 'bad' ? 'rotate-180' : ''}`} name="thumb" />
            </Button>
          ))}
        </div>
      )}
      {rate.error && <Fault className="mt-1" error={rate.error} />}
      {isWriting && (
        <Dialog
          description="Your rating is saved. A note helps the people who fix it."
          isOpen
          onClose={() => setIsWriting(false)}
          title="What was wrong?"
        >
          <ChangeForm
            fields={{ ...fields, rating: 'bad' }}
            initial={{ note: mine?.note ?? '' }}
            onCancel={() => setIsWriting(false)}
            onDone={() => setIsWriting(false)}
            row="feedback.rate"
            submit="Save note"
          >
            <AreaField label="Note" name="note" />
          </ChangeForm>
        </Dialog>
      )}
    </div>
  );
}

const raters = { user: 'The user', member: 'A member', key: 'Your program' } as const;

function Line({ said: { rating, note, rater, updated_at } }: { said: Said }) {
  return (
    <p className="break-words text-sm" data-rated={rating}>
      <span className={rating === 'good' ? 'text-good' : 'text-danger'}>
        <Icon className={`mr-1 inline size-3.5 ${rating === 'bad' ? 'rotate-180' : ''}`} name="thumb" />
        {raters[rater.type]} rated it {rating}
      </span>
      {note && <span dir="auto">: {note}</span>}{' '}
      <span className="text-quiet text-xs">
        <Time at={updated_at} />
      </span>
    </p>
  );
}
