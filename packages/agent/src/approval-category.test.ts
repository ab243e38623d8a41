import { describe, expect, it } from 'vitest';
import { type ApprovalCategory, approvalCategory } from './approval-category.ts';

describe('approvalCategory [WAIT-024]', () => {
  it.each<[string, string, ApprovalCategory | null]>([
    ['pay_invoice', 'Settles it.', 'payment'],
    ['createPayment', '', 'payment'],
    ['refund', 'Gives it back.', 'payment'],
    ['place_order', '', 'payment'],
    ['do_it', 'Transfers money to an account.', 'payment'],
    ['transfer_call', 'Puts the caller through.', null],
    ['get_order', 'Shows an order.', null],
    ['book_table', 'Books a table. Asks for a payment where the place wants one.', 'booking'],
    ['notebook_search', 'Looks something up.', null],
    ['cancel_booking', 'Cancels a booking.', 'cancellation'],
    ['cancelBooking', '', 'cancellation'],
    ['XCancelRun', '', 'cancellation'],
    ['unsubscribe', '', 'cancellation'],
    ['send_email', '', 'send_email'],
    ['notify', 'Sends a message to the customer.', 'send_email'],
    ['publish-page', '', 'publish'],
    ['share', 'Creates a new post on the blog.', 'publish'],
    ['postal_code', 'Looks up a postal code.', null],
    ['delete_user', 'Also cancels what they booked.', 'delete'],
    ['files.remove', '', 'delete'],
    ['PAY', '', 'payment'],
    ['repayment_plan_view', '', null],
    ['列表', '', null],
    ['', '', null],
  ])('%s (%s) is %s', (name, description, category) => {
    expect(approvalCategory(name, description)).toBe(category);
    expect(approvalCategory(name, description)).toBe(category);
  });
});
