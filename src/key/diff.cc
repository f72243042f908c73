#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "precast/key.h"

namespace precast {
namespace {

// Elements of a list by name and by how many of that name stand before them: the n-th "x" of one
// side is compared with the n-th "x" of the other.
template <typename Element>
class ByName {
 public:
  using Position = std::pair<std::string_view, std::size_t>;

  explicit ByName(const std::vector<Element>& elements) {
    std::map<std::string_view, std::size_t> seen;
    for (const Element& element : elements) {
      const Position position{element.name, seen[element.name]++};
      order_.push_back(position);
      elements_.emplace(position, &element);
    }
  }

  const std::vector<Position>& order() const { return order_; }
  const Element* find(const Position& position) const {
    const auto found = elements_.find(position);
    return found == elements_.end() ? nullptr : found->second;
  }

 private:
  std::vector<Position> order_;
  std::map<Position, const Element*> elements_;
};

// Calls visit(left or null, right or null) for every position of either side, left's order first.
template <typename Element, typename Visit>
void for_each_pair(const ByName<Element>& left, const ByName<Element>& right, const Visit& visit) {
  for (const auto& position : left.order()) visit(left.find(position), right.find(position));
  for (const auto& position : right.order()) {
    if (left.find(position) == nullptr) visit(nullptr, right.find(position));
  }
}

template <typename Element>
Bytes names_of(const std::vector<Element>& elements) {
  Bytes names;
  for (const Element& element : elements) {
    if (!names.empty()) names += ", ";
    names += element.name;
  }
  return names;
}

void diff_items(const KeyField& left, const KeyField& right, std::vector<KeyDifference>& out) {
  const std::size_t before = out.size();
  for_each_pair(
      ByName<KeyItem>(left.items), ByName<KeyItem>(right.items),
      [&](const KeyItem* a, const KeyItem* b) {
        if (a != nullptr && b != nullptr && a->value == b->value) return;
        out.push_back({left.name, a != nullptr ? a->name : b->name, a != nullptr, b != nullptr,
                       a != nullptr ? a->value : Bytes(), b != nullptr ? b->value : Bytes()});
      });
  if (out.size() == before && left != right) {
    out.push_back({left.name, "", true, true, names_of(left.items), names_of(right.items)});
  }
}

}  // namespace

std::vector<KeyDifference> diff(const KeyRecord& left, const KeyRecord& right) {
  std::vector<KeyDifference> out;
  for_each_pair(ByName<KeyField>(left.fields()), ByName<KeyField>(right.fields()),
                [&](const KeyField* a, const KeyField* b) {
                  if (a != nullptr && b != nullptr) {
                    diff_items(*a, *b, out);
                  } else {
                    const KeyField& only = a != nullptr ? *a : *b;
                    out.push_back({only.name, "", a != nullptr, b != nullptr, "", ""});
                  }
                });
  if (out.empty() && left != right) {
    out.push_back({"", "", true, true, names_of(left.fields()), names_of(right.fields())});
  }
  return out;
}

}  // namespace precast
