/** What a call says by itself. */
export const sentences = {
  nobodySpeaks: 'I have not heard anything for a while, so I am ending the call. You can call again at any time.',
  budgetSpent: 'The budget for this is used up, so I have to end the call here.',
  replyFailed: 'I could not answer that. Please try again.',
  yesOnPage: 'I cannot take that yes by voice. Please confirm it on the page.',
  answerOnPage: 'Please answer this on the page.',
  yesOrNo: 'Please say yes or no.',
  approved: 'All right.',
  declined: 'All right, I will not do that.',
  notUnderstood: 'Sorry, I did not hear the whole question being asked. Please answer on the page.',
} as const;
