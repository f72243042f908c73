#include "lease/record.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/little_endian.h"

namespace precast::lease {
namespace {

Owner some_owner() {
  return {.host = "node-7",
          .boot_id = "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
          .pid_namespace = 4026531836,
          .pid = 1234567,
          .start_ticks = 99887766,
          .token = Bytes("\0\1\2\xff", 4),
          .program = "trainer",
          .label = "step",
          .since_unix_s = 1'900'000'000};
}

TEST(RecordTest, ALeaseFileGivesBackItsOwnerAndItsEnding) {
  const Bytes owner = encode(some_owner());
  EXPECT_EQ(decode(owner).owner, some_owner());
  EXPECT_FALSE(decode(owner).ending);
  for (const Ending& ending :
       {Ending{Verdict::published, 0, ""}, Ending{Verdict::not_stored, 0, ""},
        Ending{Verdict::failed, 3, "the program\nis wrong"},
        Ending{Verdict::failed, 12, Bytes(kMaxEndingMessageBytes, 'x')}}) {
    const Record record = decode(owner + encode(ending));
    EXPECT_EQ(record.owner, some_owner());
    EXPECT_EQ(record.ending, ending);
  }
}

TEST(RecordTest, NothingThatIsCutOrChangedCounts) {
  const Bytes owner = encode(some_owner());
  const Bytes whole = owner + encode({Verdict::failed, 3, "no"});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Record record = decode(BytesView(whole).substr(0, size));
    EXPECT_EQ(record.owner.has_value(), size >= owner.size()) << size;
    EXPECT_FALSE(record.ending) << size;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    const Record record = decode(changed);
    EXPECT_EQ(record.owner.has_value(), at >= owner.size()) << at;
    EXPECT_FALSE(record.ending) << at;
  }
}

TEST(RecordTest, WhatLiesBehindIsIgnored) {
  const Bytes file = encode(some_owner()) + encode({Verdict::published, 0, ""}) + "more";
  EXPECT_TRUE(decode(file).ending);
  EXPECT_FALSE(decode(encode(some_owner()) + Bytes(kMaxLeaseBytes, 'x')).ending);
}

TEST(RecordTest, AMessageThatIsTooLongIsNotSharedInParts) {
  const Bytes file =
      encode(some_owner()) + encode({Verdict::failed, 3, Bytes(kMaxEndingMessageBytes + 1, 'x')});
  EXPECT_EQ(decode(file).ending, (Ending{Verdict::not_stored, 0, ""}));
}

TEST(RecordTest, TextIsCutAndMayBeShown) {
  Owner owner = some_owner();
  owner.host = Bytes(kMaxOwnerTextBytes + 1, 'h');
  owner.label = "a\x1b[2Jb\n\x7f";
  const Record record = decode(encode(owner));
  ASSERT_TRUE(record.owner);
  EXPECT_EQ(record.owner->host, Bytes(kMaxOwnerTextBytes, 'h'));
  EXPECT_EQ(record.owner->label, "a?[2Jb??");
  EXPECT_LE(encode(owner).size(), kMaxLeaseBytes - kMaxEndingMessageBytes);
}

// Frames whose checks are right, around what encode() does not write.
Bytes framed(BytesView magic, BytesView payload) {
  Bytes frame(magic);
  base::append_little_endian(frame, static_cast<std::uint32_t>(payload.size()));
  frame += payload;
  const Digest digest = base::sha256(frame);
  return frame.append(digest.view().substr(0, 8));
}

TEST(RecordTest, AnEndingBehindAnOwnerThatDoesNotParseIsNone) {
  const Record record =
      decode(framed("PLo1", "\x0a\x7f") + encode(Ending{Verdict::published, 0, ""}));
  EXPECT_FALSE(record.owner);
  EXPECT_FALSE(record.ending);
}

TEST(RecordTest, AVerdictOfALaterVersionSaysThatEverybodyCompiles) {
  EXPECT_EQ(decode(encode(some_owner()) + framed("PLe1", "\x08\x63")).ending, Ending{});
}

TEST(RecordTest, AnOwnerWithoutAnythingIsOne) { EXPECT_EQ(decode(encode(Owner{})).owner, Owner{}); }

}  // namespace
}  // namespace precast::lease
